package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.Audit;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.access.TeamKey;
import dev.cay.server.access.Teams;
import dev.cay.server.people.openid.IssuerSettings;
import dev.cay.server.people.openid.OpenId;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.net.URI;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// Sign-in of people, put together.
public final class PersonAccess implements AutoCloseable {
    /// What an operator decides about sign-in.
    ///
    /// @param url     where browsers of people reach this server, without a slash at its end
    /// @param issuer  whom people sign in with; null for one-time links alone
    /// @param domains teams of all people of a domain, as `domain=team` or `domain=team:scope`
    public record Settings(URI url, @Nullable IssuerSettings issuer, List<String> domains) {
        public Settings {
            domains = List.copyOf(domains);
        }
    }

    private final People people;
    private final AccessTokens tokens;
    private final Attempts attempts;
    private final Browsers browsers;
    private final CliRoutes cli;
    private final OAuthRoutes oauth;
    private final BrowserRoutes browser;
    private final MemberRoutes members;
    private final @Nullable OpenIdRoutes openId;

    /// @param owner   the team of a sandbox that lives
    /// @param renewal renews the tokens of all sandboxes that these rights opened, and returns their number
    public PersonAccess(
            Settings settings,
            Store store,
            Access access,
            ApiKeys keys,
            Teams teams,
            Function<SandboxId, Optional<TeamId>> owner,
            ToIntFunction<TeamKey> renewal,
            SandboxTokens secrets,
            Audit audit,
            InstantSource clock,
            SecureRandom random) {
        var own = settings.issuer();
        var issuer = own == null
                ? null
                : new OpenId(
                        own,
                        URI.create(settings.url() + OpenIdRoutes.CALLBACK),
                        secrets.sealingKey("sign-in by OpenID Connect"),
                        clock);
        var ways = new SignInOptions(settings.url(), issuer == null ? null : issuer.host());
        people = new People(store, access, keys, clock);
        var signIns = new SignIns(store, keys, clock, random);
        tokens = new AccessTokens(secrets.sealingKey("access tokens of people"), clock);
        attempts = new Attempts(clock);
        browsers = new Browsers(signIns, settings.url(), secrets.sealingKey("forms of people"), random);
        var notes = new SignInNotes(audit);
        cli = new CliRoutes(browsers, signIns, people, tokens, ways, notes);
        oauth = new OAuthRoutes(signIns, tokens, attempts, notes);
        browser = new BrowserRoutes(browsers, signIns, tokens, attempts, ways, notes);
        members = new MemberRoutes(access, keys, people, signIns, ways, owner, renewal);
        var domains =
                settings.domains().stream().map(PersonAdmission.Domain::parse).toList();
        openId = issuer == null
                ? null
                : new OpenIdRoutes(issuer, browsers, signIns, new PersonAdmission(store, teams, domains, clock), notes);
        access.admit(new PersonTokens(tokens, signIns, people, keys));
    }

    /// A person who is signed in with a browser.
    ///
    /// @param signIn      the id of the sign-in
    /// @param accessToken for requests to the API, good for a while
    public record Visitor(String email, String signIn, String accessToken) {}

    /// The person whose browser sends this request.
    public Optional<Visitor> visitor(Exchange exchange) {
        return browsers.signIn(exchange)
                .map(signIn -> new Visitor(signIn.person().email(), signIn.id(), tokens.make(signIn)));
    }

    /// Ends the sign-in of the browser that sends this request.
    public void signOut(Exchange exchange) {
        browser.end(exchange);
    }

    /// Whether people can sign in at an OpenID Connect issuer: its host.
    public Optional<String> issuerHost() {
        return Optional.ofNullable(openId).map(OpenIdRoutes::host);
    }

    public Browsers browsers() {
        return browsers;
    }

    /// Counts a wrong credential of this address.
    ///
    /// @throws CayException if there were too many
    public void wrongAttempt(String address) {
        attempts.wrong(address);
    }

    /// Once the keys are known.
    public void start() {
        people.settle();
    }

    public void addTo(Routes routes) {
        cli.addTo(routes);
        oauth.addTo(routes);
        browser.addTo(routes);
        members.addTo(routes);
        if (openId != null) {
            openId.addTo(routes);
        }
    }

    @Override
    public void close() {
        if (openId != null) {
            openId.close();
        }
    }
}
