package dev.cay.server;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A test with a server of its own.
abstract class ServerTest implements ServerCalls {
    @TempDir
    Path directory;

    TestServer cay;

    @BeforeEach
    final void start() throws Exception {
        cay = begin();
    }

    TestServer begin() throws Exception {
        return TestServer.start(directory);
    }

    TestServer next(TestServer before) throws Exception {
        return TestServer.again(directory, before);
    }

    @Override
    public final TestServer cay() {
        return cay;
    }

    @Override
    public final Path directory() {
        return directory;
    }

    @Override
    public final void restart() throws Exception {
        cay.close();
        cay = next(cay);
    }

    @AfterEach
    final void stop() {
        cay.close();
    }
}
