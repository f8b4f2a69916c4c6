package dev.cay.server.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/// Signs short-lived tokens that say which sandbox of which team a request comes from (JWT-SVID). A service checks them
/// with the public key that {@link IdentityRoutes} serves. Thread-safe.
public final class IdentityTokens {
    static final Duration LIFE = Duration.ofMinutes(5);

    private final IdentityKeys keys;
    private final URI issuer;
    private final InstantSource clock;

    /// @param file   of the key that signs; made when absent, mode 0600
    /// @param issuer where the public key is served, without a slash at its end
    public IdentityTokens(Path file, URI issuer, InstantSource clock) {
        this.keys = IdentityKeys.open(file, LIFE, clock);
        this.issuer = issuer;
        this.clock = clock;
    }

    /// A token for one audience.
    public String make(TeamId team, SandboxId sandbox, String audience) {
        var now = clock.instant();
        var key = keys.signing();
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

    /// The public keys as JSON Web Keys; the key that signs now is the first.
    List<Map<String, Object>> publicKeys() {
        return keys.published().stream().map(ECKey::toJSONObject).toList();
    }

    /// Signs with a new key from now on.
    ///
    /// @return its id
    String rotate() {
        keys.rotate();
        return keys.signing().getKeyID();
    }
}
