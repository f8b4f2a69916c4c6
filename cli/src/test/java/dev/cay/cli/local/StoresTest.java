package dev.cay.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class StoresTest {
    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void aPasswordIsReadWithoutTheLineEndAfterIt() throws Exception {
        assertThat(Stores.password(null)).isNull();
        assertThat(Stores.password(file("p4ss word\n", "rw-------"))).isEqualTo("p4ss word");
    }

    @Test
    void aPasswordFileThatOthersCanReadIsRefusedAndNotRepeated() throws Exception {
        Path file = file("p4ss", "rw-r-----");
        assertThatThrownBy(() -> Stores.password(file))
                .hasMessage("others can read the password in %s; run: sudo chmod 600 %s".formatted(file, file))
                .hasMessageNotContaining("p4ss");
    }

    @Test
    void anEmptyOrMissingPasswordFileIsNamed() throws Exception {
        Path file = file("\n", "rw-------");
        assertThatThrownBy(() -> Stores.password(file)).hasMessage("there is no password in " + file);
        Path missing = directory.resolve("none");
        assertThatThrownBy(() -> Stores.password(missing))
                .hasMessageStartingWith("the password file %s cannot be read".formatted(missing));
    }

    private Path file(String text, String permissions) throws IOException {
        Path file = Files.writeString(directory.resolve("password"), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }
}
