package dev.cay.node.mcp.oauth;

import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.remote.RemoteCredentials;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeAuthorizations.Authorized;
import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The authorization of one remote server for one sandbox: its tokens, or the page on which a user grants them.
/// Thread-safe.
///
/// Each call of the server asks for the current token. One thread at a time renews tokens; the others wait for the
/// result.
public final class ServerAuthorization implements RemoteCredentials, Links.Target {
    private static final Logger log = LoggerFactory.getLogger(ServerAuthorization.class);

    /// How long descriptions of servers are not read again.
    private static final Duration KNOWN = Duration.ofMinutes(10);

    /// The server of the authorization.
    ///
    /// @param server   its key
    /// @param url      the only address to which tokens are sent
    /// @param settings the operator's settings; null for none
    record Subject(SandboxId sandbox, String server, URI url, ServerOverride.@Nullable OAuth settings) {}

    private final Subject subject;
    private final AuthorizationParts parts;
    private final Supplier<OAuthWeb> web;
    private final Supplier<OAuthWeb> lastWeb;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Grant grant;
    private volatile @Nullable AuthorizationRequest request;
    private volatile Runnable granted = () -> {};
    private volatile boolean retired;

    /// @param web     fails if the sandbox may not reach the internet
    /// @param lastWeb for the time after the sandbox's end
    ServerAuthorization(Subject subject, AuthorizationParts parts, Supplier<OAuthWeb> web, Supplier<OAuthWeb> lastWeb) {
        this.subject = subject;
        this.parts = parts;
        this.web = web;
        this.lastWeb = lastWeb;
        this.grant = parts.grants()
                .read(subject.sandbox(), subject.server())
                .filter(kept -> kept.server().equals(subject.url().toString()))
                .orElse(null);
    }

    Subject subject() {
        return subject;
    }

    /// @param action run when a user has granted the authorization; must not block
    public void onGranted(Runnable action) {
        granted = action;
    }

    /// Whether a user has to grant an authorization, or a larger one, before the server can be used.
    public boolean isNeeded() {
        return request != null;
    }

    /// The URL that a user opens in a browser; empty if nothing has to be granted. The link is valid for some minutes.
    public Optional<String> url() {
        var wanted = request;
        return wanted == null
                ? Optional.empty()
                : Optional.of(parts.links().open(this, wanted).url());
    }

    private Instant time() {
        return parts.clock().instant();
    }

    @Override
    public @Nullable String now() throws IOException {
        var known = grant;
        if (known == null || known.refresh() == null || !known.isAboutToExpire(time())) {
            return header(known);
        }
        lock.lock();
        try {
            known = grant;
            if (known != null && known.refresh() != null && known.isAboutToExpire(time())) {
                renewInTime(known);
            }
            return header(grant);
        } finally {
            lock.unlock();
        }
    }

    private static @Nullable String header(@Nullable Grant grant) {
        return grant == null ? null : grant.header();
    }

    /// A token that is still good does until the authorization server is back.
    private void renewInTime(Grant known) throws IOException {
        try {
            renew(known);
        } catch (IOException e) {
            if (known.isOver(time())) {
                throw e;
            }
        }
    }

    /// @return false if the authorization server does not renew it; then there is no grant any more
    private boolean renew(Grant known) throws IOException {
        var form = Map.of(
                "grant_type",
                "refresh_token",
                "refresh_token",
                String.valueOf(known.refresh()),
                "resource",
                known.resource());
        var fresh = exchange(known, form);
        keep(fresh);
        return fresh != null;
    }

    /// @return null if the authorization server refuses
    private @Nullable Grant exchange(Grant asked, Map<String, String> form) throws IOException {
        var client = asked.client();
        var answer = web.get().post(asked.token(), client.headers(), client.identify(form));
        if (answer.status() / 100 == 5 || answer.status() == 429) {
            throw new IOException("its authorization server answered HTTP %d".formatted(answer.status()));
        }
        if (answer.json().path("error").asString("").equals("invalid_client")) {
            parts.registrations().forget(asked.issuer(), client);
        }
        return answer.succeeded() ? Grant.from(asked, answer.json(), time()) : null;
    }

    private void keep(@Nullable Grant fresh) {
        grant = fresh;
        if (!retired) {
            parts.grants().write(subject.sandbox(), subject.server(), fresh);
        }
    }

    @Override
    public boolean refused(Refused refused) {
        var challenge = BearerChallenge.parse(refused.challenge());
        boolean wantsMore = refused.status() == 403;
        if (wantsMore && !challenge.error().equals("insufficient_scope")) {
            return false;
        }
        lock.lock();
        try {
            var known = grant;
            if (wantsMore) {
                prepare(challenge, known == null ? List.of() : known.scopes());
                throw needed("it wants more than was granted, and needs authorization again");
            }
            if (known != null && !known.header().equals(refused.shown())) {
                return !refused.last();
            }
            if (known != null && !refused.last() && known.refresh() != null && renewed(known)) {
                return true;
            }
            if (known != null) {
                keep(null);
            }
            prepare(challenge, List.of());
            throw needed("it needs authorization");
        } finally {
            lock.unlock();
        }
    }

    private boolean renewed(Grant known) {
        try {
            return renew(known);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "its token cannot be renewed: " + Dialer.why(e), e);
        }
    }

    private static CayException needed(String why) {
        return new CayException(ErrorKind.UNAUTHENTICATED, why);
    }

    /// Finds the authorization server and the scopes to request.
    ///
    /// @param before what was asked for already
    private void prepare(BearerChallenge challenge, List<String> before) {
        var known = request;
        if (known != null
                && known.made().plus(KNOWN).isAfter(time())
                && known.scopes().containsAll(challenge.scopes())) {
            return;
        }
        try {
            var through = web.get();
            var found = new Discovery(through).find(subject.url(), challenge);
            var client = parts.registrations().client(found.server(), through, subject.settings());
            request = new AuthorizationRequest(
                    found.server(),
                    client,
                    found.resource(),
                    parts.own().redirect(),
                    scopes(found, challenge, before),
                    time());
        } catch (CayException e) {
            request = null;
            throw new CayException(
                    e.kind() == ErrorKind.PERMISSION_DENIED ? e.kind() : ErrorKind.UNAUTHENTICATED,
                    "it wants an authorization that cannot be had here: " + e.userMessage(),
                    e);
        }
    }

    private List<String> scopes(Discovery.Found found, BearerChallenge challenge, List<String> before) {
        var settings = subject.settings();
        var given = settings == null ? List.<String>of() : settings.scopes();
        boolean chosen = !given.isEmpty();
        var now = chosen ? given : found.scopes();
        var more = before.isEmpty() ? Stream.<String>empty() : challenge.scopes().stream();
        var offline = found.server().offline() && !chosen ? Stream.of("offline_access") : Stream.<String>empty();
        return Stream.of(before.stream(), now.stream(), more, offline)
                .flatMap(scope -> scope)
                .distinct()
                .toList();
    }

    /// The user was sent back by the authorization server.
    @Override
    public Authorized redirected(Links.Link link, Redirect redirect) {
        var asked = link.request();
        requireIssuer(asked.server(), redirect.issuer());
        if (redirect.error() != null || redirect.code() == null) {
            String error = String.valueOf(redirect.error());
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the authorization was not granted%s"
                            .formatted(error.matches("[a-z_]{1,64}") && redirect.error() != null ? ": " + error : ""));
        }
        var form = Map.of(
                "grant_type",
                "authorization_code",
                "code",
                redirect.code(),
                "redirect_uri",
                asked.redirect(),
                "code_verifier",
                link.verifier(),
                "resource",
                asked.resource());
        lock.lock();
        try {
            if (retired) {
                throw new CayException(ErrorKind.NOT_FOUND, "the server that was to be authorized was removed");
            }
            var fresh = exchange(asked.asked(subject.url().toString()), form);
            if (fresh == null) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "the authorization server gives no token for this authorization; begin again");
            }
            request = null;
            parts.links().drop(this);
            keep(fresh);
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the authorization server cannot be reached: " + Dialer.why(e), e);
        } finally {
            lock.unlock();
        }
        Thread.ofVirtual().name("mcp-granted").start(granted);
        return new Authorized(subject.sandbox(), subject.server());
    }

    /// Checks the issuer of the redirect first: the code must only be sent to the authorization server that the user
    /// was sent to.
    private static void requireIssuer(AuthorizationServer server, @Nullable String named) {
        if (named == null ? server.namesIssuer() : !named.equals(server.issuer())) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "this answer does not come from the authorization server that was asked");
        }
    }

    /// Ends the authorization: deletes its tokens, and revokes them if the authorization server can do that. Returns at
    /// once.
    void retire() {
        retired = true;
        parts.links().drop(this);
        parts.grants().write(subject.sandbox(), subject.server(), null);
        Thread.ofVirtual().name("mcp-revoke").start(this::revoke);
    }

    private void revoke() {
        Grant last;
        lock.lock();
        try {
            last = grant;
            grant = null;
            request = null;
        } finally {
            lock.unlock();
        }
        var place = last == null ? null : last.revocation();
        if (last == null || place == null) {
            return;
        }
        var form = last.refresh() == null
                ? Map.of("token", last.access(), "token_type_hint", "access_token")
                : Map.of("token", last.refresh(), "token_type_hint", "refresh_token");
        try {
            var _ = lastWeb.get()
                    .post(place, last.client().headers(), last.client().identify(form));
        } catch (IOException | CayException e) {
            log.atDebug().addKeyValue("server", subject.server()).log("a token was not revoked");
        }
    }
}
