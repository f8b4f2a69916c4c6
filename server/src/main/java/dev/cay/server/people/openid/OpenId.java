package dev.cay.server.people.openid;

import static dev.cay.server.people.openid.IssuerDocuments.shortened;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWT;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.claims.PersonClaims;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Signs browsers in with the operator's issuer. Between the two requests of a browser it keeps nothing; after the
/// second it remembers that the state was used. Thread-safe.
public final class OpenId implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OpenId.class);
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /// Browsers whose return is looked at at a time, and how long others wait. Each may take three requests.
    private static final int AT_ONCE = 16;

    private static final Duration WAIT = Duration.ofSeconds(20);

    /// Signatures by keys that only the issuer has. An id token without one, or with one by a shared secret, is
    /// refused.
    private static final Set<JWSAlgorithm> SIGNATURES = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512,
            JWSAlgorithm.EdDSA);

    /// An account of the issuer.
    ///
    /// @param id    issuer and subject, which never change
    /// @param email which the issuer has verified
    public record Account(String id, String email) {}

    /// What came of a browser's return. `next` is known as soon as the state is ours, also if the sign-in failed.
    ///
    /// @param account null if it failed
    /// @param failure why; null if it did not
    /// @param next    where the browser goes
    public record Outcome(
            @Nullable Account account,
            @Nullable String failure,
            @Nullable String next) {}

    private final IssuerSettings settings;
    private final URI redirect;
    private final byte[] key;
    private final InstantSource clock;
    private final Dialer dialer;
    private final IssuerWeb web;
    private final IssuerDocuments documents;
    private final UsedStates used;
    private final Semaphore places = new Semaphore(AT_ONCE, true);

    /// @param redirect where the issuer sends browsers back to
    /// @param key      256 bits that seal states
    public OpenId(IssuerSettings settings, URI redirect, byte[] key, InstantSource clock) {
        this.settings = settings;
        this.redirect = redirect;
        this.key = key.clone();
        this.clock = clock;
        // The operator named it, so it may be in their own network.
        var named = Addresses.allowing(List.of(String.valueOf(settings.url().getHost())));
        dialer = new Dialer(new Dialer.Rules(named, Set.of(), false, "signIn.issuer"), System.getenv());
        web = new IssuerWeb(dialer);
        documents = new IssuerDocuments(settings.url(), web, clock);
        used = new UsedStates(clock);
    }

    /// Its name, for people.
    public String host() {
        return String.valueOf(settings.url().getHost());
    }

    /// Where a browser goes to sign in.
    ///
    /// @param browser a hash of the browser's secret: another browser cannot complete this sign-in
    /// @throws CayException if the issuer does not answer
    public URI begin(String browser, @Nullable String next) {
        var nonce = new Nonce();
        var verifier = new CodeVerifier();
        var handshake = new Handshake(
                nonce.getValue(),
                verifier.getValue(),
                browser,
                next,
                clock.instant().plus(PATIENCE));
        return new AuthenticationRequest.Builder(
                        new ResponseType(ResponseType.Value.CODE),
                        new Scope("openid", "email"),
                        new ClientID(settings.clientId()),
                        redirect)
                .endpointURI(documents.metadata().getAuthorizationEndpointURI())
                .state(new State(handshake.sealed(key)))
                .nonce(nonce)
                .codeChallenge(verifier, CodeChallengeMethod.S256)
                .build()
                .toURI();
    }

    /// Completes what the state belongs to.
    ///
    /// @param browser a hash of the browser's secret; null if it has none
    /// @return empty if the state is none of ours
    public Optional<Outcome> complete(Map<String, String> returned, @Nullable String browser) {
        return Handshake.open(returned.getOrDefault("state", ""), key).map(handshake -> {
            try {
                return new Outcome(complete(handshake, returned, browser), null, handshake.next());
            } catch (CayException e) {
                log.atInfo().addKeyValue("why", e.getMessage()).log("a sign-in with the issuer failed");
                return new Outcome(null, e.userMessage(), handshake.next());
            } catch (RuntimeException e) {
                log.atError().setCause(e).log("could not complete a sign-in with the issuer");
                return new Outcome(null, "the server failed; its log says why", handshake.next());
            }
        });
    }

    private Account complete(Handshake handshake, Map<String, String> returned, @Nullable String browser) {
        if (browser == null
                || !MessageDigest.isEqual(
                        browser.getBytes(UTF_8), handshake.browser().getBytes(UTF_8))) {
            throw refused("this sign-in was begun by another browser; begin again");
        }
        if (!handshake.end().isAfter(clock.instant())) {
            throw refused("this sign-in took longer than %d minutes; begin again".formatted(PATIENCE.toMinutes()));
        }
        if (!used.use(handshake)) {
            throw refused("this sign-in was completed before; begin again");
        }
        String issuer = returned.get("iss");
        if (issuer != null && !issuer.equals(settings.url().toString())) {
            throw refused("the answer comes from another issuer");
        }
        String code = returned.get("code");
        if (code == null || code.isEmpty()) {
            throw refused("%s answers: %s".formatted(host(), shortened(returned.getOrDefault("error", "no code"))));
        }
        enter();
        try {
            var metadata = documents.metadata();
            var answer = exchange(metadata, handshake, code);
            var claims = validated(answer.getOIDCTokens().getIDToken(), new Nonce(handshake.nonce()));
            return account(claims, person(metadata, claims, answer));
        } catch (IOException e) {
            throw documents.unavailable(e);
        } catch (ParseException e) {
            throw documents.noOpenId(e);
        } catch (BadJOSEException | JOSEException e) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "the id token of %s is not good".formatted(host()), e);
        } finally {
            places.release();
        }
    }

    private void enter() {
        try {
            if (!places.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "too many people sign in right now; begin again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while others sign in", e);
        }
    }

    private OIDCTokenResponse exchange(OIDCProviderMetadata metadata, Handshake handshake, String code)
            throws IOException, ParseException {
        var grant = new AuthorizationCodeGrant(
                new AuthorizationCode(code), redirect, new CodeVerifier(handshake.verifier()));
        var client = new ClientID(settings.clientId());
        var endpoint = metadata.getTokenEndpointURI();
        var secret = secret();
        TokenRequest request;
        if (secret.isEmpty()) {
            request = new TokenRequest.Builder(endpoint, client, grant).build();
        } else if (takesPostOnly(metadata)) {
            request = new TokenRequest.Builder(endpoint, new ClientSecretPost(client, secret.get()), grant).build();
        } else {
            request = new TokenRequest.Builder(endpoint, new ClientSecretBasic(client, secret.get()), grant).build();
        }
        var answer = OIDCTokenResponseParser.parse(request.toHTTPRequest().send(web));
        if (!answer.indicatesSuccess()) {
            var error = answer.toErrorResponse().getErrorObject();
            throw refused("%s does not take the code: %s"
                    .formatted(host(), shortened(error == null ? "no reason" : String.valueOf(error.getCode()))));
        }
        return (OIDCTokenResponse) answer.toSuccessResponse();
    }

    private static boolean takesPostOnly(OIDCProviderMetadata metadata) {
        var methods = metadata.getTokenEndpointAuthMethods();
        return methods != null
                && methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_POST)
                && !methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_BASIC);
    }

    private Optional<Secret> secret() {
        var file = settings.secretFile();
        if (file == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Secret(Files.readString(file).strip()));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "signIn.clientSecretFile cannot be read", e);
        }
    }

    /// An issuer may have replaced its keys since they were asked for.
    private IDTokenClaimsSet validated(JWT token, Nonce nonce) throws BadJOSEException, JOSEException {
        var keys = documents.keys();
        try {
            return validated(keys, token, nonce);
        } catch (BadJOSEException e) {
            var newer = documents.newerKeys();
            if (newer.equals(keys)) {
                throw e;
            }
            return validated(newer, token, nonce);
        }
    }

    /// Checks signature, issuer, audience, the client it was made for, nonce and times.
    private IDTokenClaimsSet validated(JWKSet keys, JWT token, Nonce nonce) throws BadJOSEException, JOSEException {
        var selector = new JWSVerificationKeySelector<SecurityContext>(SIGNATURES, new ImmutableJWKSet<>(keys));
        var validator = new IDTokenValidator(
                new Issuer(settings.url().toString()), new ClientID(settings.clientId()), selector, null);
        var claims = validator.validate(token, nonce);
        requireForUs(claims);
        return claims;
    }

    /// A token that several clients take was made for the one that it names: another one may have passed it on.
    private void requireForUs(IDTokenClaimsSet claims) throws BadJOSEException {
        var holder = claims.getAuthorizedParty();
        boolean ours = holder == null
                ? claims.getAudience().size() == 1
                : holder.getValue().equals(settings.clientId());
        if (!ours) {
            throw new BadJOSEException("the id token was made for another client");
        }
    }

    /// Some issuers tell the address, or that it is verified, at another place only.
    private PersonClaims person(OIDCProviderMetadata metadata, IDTokenClaimsSet claims, OIDCTokenResponse answer)
            throws IOException, ParseException {
        var own = new PersonClaims(claims.toJSONObject());
        var endpoint = metadata.getUserInfoEndpointURI();
        if ((own.getEmailAddress() != null && own.getEmailVerified() != null) || endpoint == null) {
            return own;
        }
        var token =
                new BearerAccessToken(answer.getOIDCTokens().getAccessToken().getValue());
        var told = UserInfoResponse.parse(
                new UserInfoRequest(endpoint, token).toHTTPRequest().send(web));
        if (!told.indicatesSuccess()) {
            return own;
        }
        var info = told.toSuccessResponse().getUserInfo();
        if (info == null) {
            throw refused(
                    "%s tells your e-mail address in a signed text, which Cay does not read; let it put the address into the id token"
                            .formatted(host()));
        }
        if (!info.getSubject().equals(claims.getSubject())) {
            throw refused("%s tells of another account than it signed in".formatted(host()));
        }
        return info;
    }

    private Account account(IDTokenClaimsSet claims, PersonClaims person) {
        String email = person.getEmailAddress();
        if (email == null) {
            throw refused("%s does not tell your e-mail address".formatted(host()));
        }
        if (!Boolean.TRUE.equals(person.getEmailVerified())) {
            throw refused("%s has not verified your e-mail address".formatted(host()));
        }
        return new Account(claims.getIssuer() + " " + claims.getSubject(), email);
    }

    private static CayException refused(String why) {
        return new CayException(ErrorKind.PERMISSION_DENIED, why);
    }

    @Override
    public void close() {
        dialer.close();
    }
}
