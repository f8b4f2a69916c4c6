package dev.cay.node.ingress;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A test that asks an envd about the files of a folder.
abstract class EnvdFilesTest {
    @TempDir
    Path folder;

    TestEnvd envd;

    @BeforeEach
    void start() throws Exception {
        envd = new TestEnvd();
    }

    @AfterEach
    void stop() {
        envd.close();
    }

    String path(String name) {
        return folder.resolve(name).toString();
    }
}
