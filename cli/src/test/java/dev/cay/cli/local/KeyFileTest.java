package dev.cay.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class KeyFileTest {
    @TempDir
    private Path home = Path.of("unset");

    @Test
    @NeedsRoot
    void aSavedKeyIsItsOwnersAlone() throws Exception {
        String instance = "t" + ProcessHandle.current().pid();
        Path file = KeyFile.in(Path.of("/root"), instance);
        try {
            assertThat(KeyFile.save("e2b_0123", instance, Map.of("SUDO_USER", "root; id")))
                    .containsExactly("root");
            assertThat(KeyFile.read(Path.of("/root"), instance)).hasValue("e2b_0123");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void withoutAKeyThereIsNone() throws Exception {
        assertThat(KeyFile.read(home, "0")).isEmpty();
    }

    @Test
    void aSecondDaemonHasAKeyOfItsOwn() {
        assertThat(KeyFile.in(home, "0")).isEqualTo(home.resolve(".config/cay/key"));
        assertThat(KeyFile.in(home, "b")).isEqualTo(home.resolve(".config/cay/key-b"));
    }
}
