package dev.cay.server.people.openid;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// What the issuer says of itself, and its keys. Anybody may begin a sign-in, so the issuer is asked every few minutes
/// and not for each, and by one at a time; an issuer that does not answer is left alone for some seconds. Thread-safe.
final class IssuerDocuments {
    private static final Duration FRESH = Duration.ofMinutes(5);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /// Keys that fit no signature are asked for again, but not more often than this.
    private static final Duration KEYS_AGAIN = Duration.ofSeconds(10);

    private final URI issuer;
    private final IssuerWeb web;
    private final InstantSource clock;
    private final Document<OIDCProviderMetadata> metadata = new Document<>();
    private final Document<JWKSet> keys = new Document<>();

    IssuerDocuments(URI issuer, IssuerWeb web, InstantSource clock) {
        this.issuer = issuer;
        this.web = web;
        this.clock = clock;
    }

    private interface Question<T> {
        T ask();
    }

    /// The last answer, or why there was none.
    private final class Document<T> {
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable T value;
        private @Nullable CayException failure;
        private Instant askedAt = Instant.MIN;

        /// @param fresh how long an answer is good
        private T get(Duration fresh, Question<T> question) {
            acquire();
            try {
                var age = Duration.between(askedAt, clock.instant());
                if (value != null && age.compareTo(fresh) < 0) {
                    return value;
                }
                if (failure != null && age.compareTo(AFTER_FAILURE) < 0) {
                    throw failure;
                }
                value = null;
                failure = null;
                try {
                    T answer = question.ask();
                    value = answer;
                    return answer;
                } catch (CayException e) {
                    failure = e;
                    throw e;
                } finally {
                    askedAt = clock.instant();
                }
            } finally {
                lock.unlock();
            }
        }

        private void acquire() {
            try {
                if (!lock.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new CayException(
                            ErrorKind.UNAVAILABLE,
                            "%s did not answer within %d seconds".formatted(issuer.getHost(), PATIENCE.toSeconds()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for the issuer", e);
            }
        }
    }

    OIDCProviderMetadata metadata() {
        return metadata.get(FRESH, this::askMetadata);
    }

    JWKSet keys() {
        return keys.get(FRESH, this::askKeys);
    }

    /// Keys that are not those of a moment ago, which an issuer may have replaced.
    JWKSet newerKeys() {
        return keys.get(KEYS_AGAIN, this::askKeys);
    }

    private JWKSet askKeys() {
        try {
            return JWKSet.parse(web.get(metadata().getJWKSetURI()).getBody());
        } catch (IOException e) {
            throw unavailable(e);
        } catch (java.text.ParseException e) {
            throw noOpenId(e);
        }
    }

    private OIDCProviderMetadata askMetadata() {
        String url = issuer.toString();
        String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        try {
            var answer = web.get(URI.create(base + "/.well-known/openid-configuration"));
            answer.ensureStatusCode(200);
            var told = OIDCProviderMetadata.parse(answer.getBody());
            if (!told.getIssuer().getValue().equals(url)) {
                throw refused("signIn.issuer is %s, but the issuer there calls itself %s"
                        .formatted(url, shortened(told.getIssuer().getValue())));
            }
            if (told.getTokenEndpointURI() == null
                    || told.getAuthorizationEndpointURI() == null
                    || told.getJWKSetURI() == null) {
                throw refused("%s names no endpoints for the code flow".formatted(issuer.getHost()));
            }
            requireSecure(issuer, told);
            return told;
        } catch (IOException e) {
            throw unavailable(e);
        } catch (ParseException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "%s does not describe itself as OpenID Connect has it".formatted(base), e);
        }
    }

    /// Refuses addresses without TLS: an attacker on the network could read the client's secret and codes there, or
    /// answer with other keys. An issuer behind a proxy names such addresses if it does not know its own.
    static void requireSecure(URI issuer, OIDCProviderMetadata told) {
        if (!"https".equals(issuer.getScheme())) {
            return;
        }
        for (URI endpoint : Arrays.asList(
                told.getAuthorizationEndpointURI(),
                told.getTokenEndpointURI(),
                told.getJWKSetURI(),
                told.getUserInfoEndpointURI())) {
            if (endpoint != null && !"https".equalsIgnoreCase(endpoint.getScheme())) {
                throw refused("%s names an endpoint without https, %s; its own address is not set right"
                        .formatted(issuer.getHost(), shortened(endpoint.toString())));
            }
        }
    }

    CayException unavailable(IOException e) {
        return new CayException(
                ErrorKind.UNAVAILABLE, "%s cannot be asked: %s".formatted(issuer.getHost(), Dialer.why(e)), e);
    }

    CayException noOpenId(Exception e) {
        return new CayException(
                ErrorKind.UNAVAILABLE, "%s answers what is no OpenID Connect".formatted(issuer.getHost()), e);
    }

    static String shortened(String text) {
        return text.length() <= 100 ? text : text.substring(0, 100) + "...";
    }

    private static CayException refused(String why) {
        return new CayException(ErrorKind.PERMISSION_DENIED, why);
    }
}
