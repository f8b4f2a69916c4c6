package dev.cay.server.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Date;
import java.util.Map;
import java.util.UUID;

/// Signs short-lived tokens that say which sandbox of which team a request comes from (JWT-SVID). Whoever gets one
/// checks it with the public key that {@link IdentityRoutes} serves. Thread-safe.
public final class IdentityTokens {
    static final Duration LIFE = Duration.ofMinutes(5);

    private final ECKey key;
    private final URI issuer;
    private final InstantSource clock;

    /// @param file   of the key that signs; made when absent, mode 0600
    /// @param issuer where the public key is served, without a slash at its end
    public IdentityTokens(Path file, URI issuer, InstantSource clock) {
        this.key = open(file);
        this.issuer = issuer;
        this.clock = clock;
    }

    private static ECKey open(Path file) {
        try {
            if (!Files.exists(file)) {
                var fresh = new ECKeyGenerator(Curve.P_256)
                        .keyUse(KeyUse.SIGNATURE)
                        .algorithm(JWSAlgorithm.ES256)
                        .keyIDFromThumbprint(true)
                        .generate();
                WholeFile.write(file, fresh.toJSONString());
            }
            return ECKey.parse(Files.readString(file));
        } catch (IOException | JOSEException | ParseException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the key of identity tokens in %s cannot be read; restore it, or remove it to have a new one made"
                            .formatted(file),
                    e);
        }
    }

    /// A token for one audience.
    public String make(TeamId team, SandboxId sandbox, String audience) {
        var now = clock.instant();
        var claims = new JWTClaimsSet.Builder()
                .issuer(issuer.toString())
                .subject("spiffe://%s/team/%s/sandbox/%s".formatted(issuer.getHost(), team.value(), sandbox.value()))
                .audience(audience)
                .issueTime(Date.from(now))
                .notBeforeTime(Date.from(now))
                .expirationTime(Date.from(now.plus(LIFE)))
                .jwtID(UUID.randomUUID().toString())
                .build();
        var header = new JWSHeader.Builder(JWSAlgorithm.ES256)
                .type(JOSEObjectType.JWT)
                .keyID(key.getKeyID())
                .build();
        var token = new SignedJWT(header, claims);
        try {
            token.sign(new ECDSASigner(key));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    URI issuer() {
        return issuer;
    }

    /// What others need to check tokens, as JSON.
    Map<String, Object> publicKey() {
        return key.toPublicJWK().toJSONObject();
    }
}
