package dev.cay.server;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A test with a server of its own.
abstract class ServerTest {
    @TempDir
    Path directory;

    TestServer cay;

    @BeforeEach
    final void start() throws Exception {
        cay = TestServer.start(directory);
    }

    @AfterEach
    final void stop() {
        cay.close();
    }
}
