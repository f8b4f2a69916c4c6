package dev.cay.server.people;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.source.ImmutableSecret;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.text.ParseException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Date;
import java.util.Optional;
import java.util.Set;

/// The tokens that programs of people send with requests: JWTs that say by which sign-in they were made. Only this
/// server signs and reads them. A token is good for an hour, and only while its sign-in is. Thread-safe.
final class AccessTokens {
    static final Duration LIFE = Duration.ofHours(1);

    private static final String NAME = "cay";
    private static final String SIGN_IN = "sid";

    private final byte[] key;
    private final InstantSource clock;

    /// @param key 256 bits
    AccessTokens(byte[] key, InstantSource clock) {
        this.key = key.clone();
        this.clock = clock;
    }

    String make(SignIn signIn) {
        var now = clock.instant();
        var claims = new JWTClaimsSet.Builder()
                .issuer(NAME)
                .audience(NAME)
                .subject(signIn.person().id())
                .claim(SIGN_IN, signIn.id())
                .issueTime(Date.from(now))
                .expirationTime(Date.from(now.plus(LIFE)))
                .build();
        var token = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims);
        try {
            token.sign(new MACSigner(key));
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
        return token.serialize();
    }

    /// The id of the sign-in that the token was made by, if the token is good.
    Optional<String> signIn(String token) {
        return read(token, true);
    }

    /// Whether this server made it, also when it is over.
    boolean isOurs(String token) {
        return read(token, false).isPresent();
    }

    private Optional<String> read(String token, boolean fresh) {
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.HS256, new ImmutableSecret<>(key)));
        processor.setJWTClaimsSetVerifier(fresh ? verifier() : (_, _) -> {});
        try {
            return Optional.ofNullable(processor.process(token, null).getStringClaim(SIGN_IN));
        } catch (ParseException | BadJOSEException | JOSEException _) {
            return Optional.empty();
        }
    }

    private DefaultJWTClaimsVerifier<SecurityContext> verifier() {
        var exact = new JWTClaimsSet.Builder().issuer(NAME).build();
        var verifier = new DefaultJWTClaimsVerifier<SecurityContext>(NAME, exact, Set.of("sub", "exp", SIGN_IN)) {
            @Override
            protected Date currentTime() {
                return Date.from(clock.instant());
            }
        };
        verifier.setMaxClockSkew(0);
        return verifier;
    }
}
