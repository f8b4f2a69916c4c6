package dev.cay.server.people.openid;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.crypto.DirectDecrypter;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jwt.EncryptedJWT;
import com.nimbusds.jwt.JWTClaimsSet;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A sign-in that a browser has begun, as the issuer carries it back in `state`: sealed, so that only this server reads
/// and makes it, and nothing has to be kept meanwhile.
///
/// @param nonce    which the id token has to name
/// @param verifier which the issuer gets with the code (PKCE)
/// @param browser  a hash of the secret of the browser that began
/// @param next     where the browser goes in the end; null for nowhere in particular
/// @param end      when it is too late
record Handshake(
        String nonce,
        String verifier,
        String browser,
        @Nullable String next,
        Instant end) {
    /// @param key 256 bits
    String sealed(byte[] key) {
        var claims = new JWTClaimsSet.Builder()
                .claim("nonce", nonce)
                .claim("verifier", verifier)
                .claim("browser", browser)
                .claim("next", next)
                .expirationTime(Date.from(end))
                .build();
        var sealed = new EncryptedJWT(new JWEHeader(JWEAlgorithm.DIR, EncryptionMethod.A256GCM), claims);
        try {
            sealed.encrypt(new DirectEncrypter(key));
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
        return sealed.serialize();
    }

    /// Empty for what was not sealed with this key.
    static Optional<Handshake> open(String state, byte[] key) {
        try {
            var sealed = EncryptedJWT.parse(state);
            sealed.decrypt(new DirectDecrypter(key));
            var claims = sealed.getJWTClaimsSet();
            return Optional.of(new Handshake(
                    claims.getStringClaim("nonce"),
                    claims.getStringClaim("verifier"),
                    claims.getStringClaim("browser"),
                    claims.getStringClaim("next"),
                    claims.getExpirationTime().toInstant()));
        } catch (ParseException | JOSEException | RuntimeException _) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return "a handshake until " + end;
    }
}
