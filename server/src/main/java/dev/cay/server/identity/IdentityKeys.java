package dev.cay.server.identity;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.server.store.JsonColumn;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The key that signs identity tokens, in a file beside the database, and the public keys of tokens that it signed
/// before it was replaced. The file is replaced whole: whenever the daemon is killed, it has one key that signs, and
/// the public key of every token that is still good. Thread-safe.
final class IdentityKeys {
    /// The content of the key file.
    ///
    /// @param signing the current key with its private part
    /// @param before  earlier public keys
    private record Content(String signing, List<Old> before) {}

    /// @param until when the last of its tokens is not good any more
    private record Old(String key, Instant until) {}

    /// A file of before there were rotations is the key itself.
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Either(
            @Nullable String kty,
            @Nullable String signing,
            @Nullable List<Old> before) {}

    private final Path file;
    private final Duration kept;
    private final InstantSource clock;
    private Content content;
    private ECKey signing;

    private IdentityKeys(Path file, Duration life, InstantSource clock, Content content) throws ParseException {
        this.file = file;
        // Twice as long as tokens live, because some are signed with the old key while the new one is written.
        this.kept = life.multipliedBy(2);
        this.clock = clock;
        this.content = content;
        this.signing = ECKey.parse(content.signing());
    }

    /// Reads the file, or makes it with one key, readable for its owner only.
    ///
    /// @param life of a token
    static IdentityKeys open(Path file, Duration life, InstantSource clock) {
        try {
            if (!Files.exists(file)) {
                var fresh = new Content(fresh().toJSONString(), List.of());
                WholeFile.writeDurably(file, Json.write(fresh));
                return new IdentityKeys(file, life, clock, fresh);
            }
            String text = Files.readString(file);
            var either = JsonColumn.read(text, Either.class);
            String signing = either.kty() == null ? either.signing() : text;
            if (signing == null) {
                throw new IOException("it has no key");
            }
            return new IdentityKeys(
                    file, life, clock, new Content(signing, either.before() == null ? List.of() : either.before()));
        } catch (IOException | JOSEException | ParseException | RuntimeException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the key of identity tokens in %s cannot be read; restore it, or remove it to have a new one made"
                            .formatted(file),
                    e);
        }
    }

    private static ECKey fresh() throws JOSEException {
        return new ECKeyGenerator(Curve.P_256)
                .keyUse(KeyUse.SIGNATURE)
                .algorithm(JWSAlgorithm.ES256)
                .keyIDFromThumbprint(true)
                .generate();
    }

    synchronized ECKey signing() {
        return signing;
    }

    /// The public keys of all tokens that are still valid, the newest first.
    synchronized List<ECKey> published() {
        return Stream.concat(
                        Stream.of(signing.toPublicJWK()), stillGood().stream().map(IdentityKeys::parsed))
                .toList();
    }

    private List<Old> stillGood() {
        var now = clock.instant();
        return content.before().stream().filter(old -> old.until().isAfter(now)).toList();
    }

    private static ECKey parsed(Old old) {
        try {
            return ECKey.parse(old.key());
        } catch (ParseException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Signs with a new key from now on. Of the old one the public part stays until its tokens are not good any more.
    synchronized void rotate() {
        var before = new ArrayList<Old>();
        before.add(new Old(signing.toPublicJWK().toJSONString(), clock.instant().plus(kept)));
        before.addAll(stillGood());
        try {
            var fresh = fresh();
            var next = new Content(fresh.toJSONString(), List.copyOf(before));
            WholeFile.writeDurably(file, Json.write(next));
            content = next;
            signing = fresh;
        } catch (IOException | JOSEException e) {
            throw new CayException(
                    ErrorKind.INTERNAL, "the key of identity tokens cannot be written to %s".formatted(file), e);
        }
    }
}
