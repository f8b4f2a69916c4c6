package dev.cay.node.mcp.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class SealTest {
    private static final byte[] SECRET = "ntn_a secret".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path dir;

    @Test
    void opensWhatItClosedAlsoAfterARestart() throws Exception {
        byte[] sealed = Seal.with(dir.resolve("key")).close(SECRET);
        assertThat(new String(sealed, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
        assertThat(Seal.with(dir.resolve("key")).open(sealed)).hasValue(SECRET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve("key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void neverWritesTheSameTwice() throws Exception {
        var seal = Seal.with(dir.resolve("key"));
        assertThat(seal.close(SECRET)).isNotEqualTo(seal.close(SECRET));
    }

    @Test
    void refusesWhatWasChangedOrSealedElsewhere() throws Exception {
        byte[] sealed = Seal.with(dir.resolve("key")).close(SECRET);
        assertThat(Seal.with(dir.resolve("other")).open(sealed)).isEmpty();
        sealed[sealed.length - 1] ^= 1;
        assertThat(Seal.with(dir.resolve("key")).open(sealed)).isEmpty();
        assertThat(Seal.with(dir.resolve("key")).open(new byte[3])).isEmpty();
    }

    @Test
    void saysWhenTheKeyIsNone() throws Exception {
        Files.writeString(dir.resolve("key"), "short");
        assertThatThrownBy(() -> Seal.with(dir.resolve("key")))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("is no key");
    }
}
