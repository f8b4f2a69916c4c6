package dev.cay.server.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.SignedJWT;
import dev.cay.server.KilledAtAStep;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The key of identity tokens through rotations and ends of the daemon at any moment.
@Fast
final class IdentityKeysTest {
    private static final URI ISSUER = URI.create("https://cay.test");

    @TempDir
    private Path directory = Path.of("unset");

    private Instant now = Instant.parse("2026-05-04T03:02:01Z");

    private Path file() {
        return directory.resolve("identity.key");
    }

    private IdentityKeys open() {
        return IdentityKeys.open(file(), IdentityTokens.LIFE, () -> now);
    }

    private static SignedJWT token(IdentityTokens tokens) throws Exception {
        return SignedJWT.parse(tokens.make(new TeamId("t"), new SandboxId("one"), "aud"));
    }

    private static boolean isGood(SignedJWT token, List<ECKey> keys) throws Exception {
        for (var key : keys) {
            if (key.getKeyID().equals(token.getHeader().getKeyID())) {
                return token.verify(new ECDSAVerifier(key));
            }
        }
        return false;
    }

    @Test
    void theFileIsForItsOwnerAloneAlsoAfterARotation() throws Exception {
        var keys = open();
        assertThat(Files.getPosixFilePermissions(file())).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        keys.rotate();
        assertThat(Files.getPosixFilePermissions(file())).isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void ofAKeyThatSignsNoMoreThePublicPartStaysAWhile() throws Exception {
        var keys = open();
        String privatePart = keys.signing().getD().toString();
        var first = keys.signing();
        keys.rotate();
        var second = keys.signing();
        assertThat(Files.readString(file())).doesNotContain(privatePart);
        now = now.plus(Duration.ofMinutes(9));
        keys.rotate();
        assertThat(open().published())
                .extracting(ECKey::getKeyID)
                .containsExactly(keys.signing().getKeyID(), second.getKeyID(), first.getKeyID());
        now = now.plus(Duration.ofMinutes(2));
        assertThat(open().published())
                .extracting(ECKey::getKeyID)
                .containsExactly(keys.signing().getKeyID(), second.getKeyID());
    }

    @Test
    void aKeyOfAnOlderCayGoesOn() throws Exception {
        var old = new ECKeyGenerator(Curve.P_256).keyIDFromThumbprint(true).generate();
        Files.writeString(file(), old.toJSONString());
        assertThat(open().signing()).isEqualTo(old);
        open().rotate();
        assertThat(open().published()).extracting(ECKey::getKeyID).contains(old.getKeyID());
    }

    @Test
    void aFileThatIsNoneIsNamed() throws Exception {
        for (String text : List.of("", "{}", "{\"signing\":\"x\"}", "nonsense")) {
            Files.writeString(file(), text);
            assertThatThrownBy(this::open).isInstanceOf(CayException.class).hasMessageContaining(file().toString());
        }
    }

    /// Signs a token, and replaces the key.
    static final class Rotating {
        private Rotating() {}

        public static void main(String[] arguments) throws Exception {
            var directory = Path.of(arguments[1]);
            var tokens = new IdentityTokens(directory.resolve("identity.key"), ISSUER, InstantSource.system());
            Files.writeString(directory.resolve("token"), token(tokens).serialize());
            KilledAtAStep.listen(arguments[0]);
            tokens.rotate();
        }
    }

    @Test
    void aKillAtAnyStepOfARotationLeavesAKeyThatSignsAndEveryTokenGood() throws Exception {
        int steps = 0;
        boolean killed = true;
        while (killed) {
            killed = KilledAtAStep.run(Rotating.class, steps + 1, directory);
            steps += killed ? 1 : 0;
            var tokens = new IdentityTokens(file(), ISSUER, InstantSource.system());
            var published = IdentityKeys.open(file(), IdentityTokens.LIFE, InstantSource.system())
                    .published();
            assertThat(isGood(SignedJWT.parse(Files.readString(directory.resolve("token"))), published))
                    .as("a token of before, after step %d", steps)
                    .isTrue();
            assertThat(isGood(token(tokens), published)).isTrue();
            Files.delete(file());
        }
        assertThat(steps).isEqualTo(3);
    }
}
