package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Authenticates requests, and cuts those whose caller loses the rights. Thread-safe.
public final class Access {
    /// Answers a request of a known team.
    public interface TeamHandler {
        void handle(Team team, Exchange exchange) throws Exception;
    }

    /// Answers a request of a known key, or of the operator.
    public interface CallerHandler {
        void handle(Caller caller, Exchange exchange) throws Exception;
    }

    /// Counts requests and knows the limits of keys.
    public interface Admission {
        /// Refuses a request when its caller sends too many.
        void call(Caller caller);

        /// Whether the key has limits of its own. Such a key makes no others, as it could pass its limits with them.
        boolean isLimited(TeamKey key);

        /// The last key of a family was revoked.
        void forget(String family);
    }

    /// Authenticates people who use tokens of their own instead of API keys.
    public interface People {
        /// Returns the rights of the token's owner in a team, in the form of a key.
        ///
        /// @param team null if the request names none
        /// @throws CayException if the token is not valid, or its owner is no member of the team
        TeamKey rights(String token, @Nullable TeamId team);

        /// Returns the rights of the token's owner in each of their teams, at least one, in the form of keys.
        ///
        /// @throws CayException if the token is not valid, or its owner is a member of no team
        List<TeamKey> rights(String token);

        /// A new API key for each of these rights, in their order.
        ///
        /// @throws CayException if the owner makes too many, or has other rights by now
        List<Minted> mint(String token, List<TeamKey> rights);

        /// @param text the key itself, which cannot be shown again
        record Minted(TeamKey key, String text) {}

        /// Whether this server made the token, and it is still valid.
        boolean knows(String token);

        /// Returns the present rights of a sign-in's owner in a team; empty if the sign-in has ended, or the owner is
        /// no member.
        Optional<TeamKey> rightsNow(String signIn, TeamId team);
    }

    private final Admission admission;
    private final AdminToken admin;
    private final InstantSource clock;
    private final SecureRandom random;
    private final Audit audit;
    private final OpenRequests open = new OpenRequests();
    private final KnownTeams known;
    private final Holders holders;
    private volatile @Nullable People people;

    public Access(
            Store store, Admission admission, AdminToken admin, InstantSource clock, SecureRandom random, Audit audit) {
        this.admission = admission;
        this.admin = admin;
        this.clock = clock;
        this.random = random;
        this.audit = audit;
        this.known = new KnownTeams(store, open, admission::forget, clock, random);
        this.holders = new Holders(admin, known, (signIn, team) -> people().rightsNow(signIn, team), open, clock);
    }

    /// Sets the authentication of people. Call this before requests come.
    public void admit(People all) {
        people = all;
    }

    People people() {
        var all = people;
        if (all == null) {
            throw Credential.unauthenticated("sign-in is not set up on this server" + Credential.FIX);
        }
        return all;
    }

    /// Reads teams and keys; where there is no team yet, makes one with its first key.
    public void start() {
        admin.make(random);
        known.start();
    }

    /// The team that the first start made, which owns everything that has no other owner.
    public Team firstTeam() {
        return known.firstTeam();
    }

    /// The team with this id.
    public Team requireTeam(TeamId id) {
        return known.require(id);
    }

    /// The key that this start made, if it was the first one.
    public Optional<String> firstKey() {
        return known.firstKey();
    }

    KnownTeams known() {
        return known;
    }

    /// Serves requests with tokens that were given to callers.
    public Holders holders() {
        return holders;
    }

    Admission admission() {
        return admission;
    }

    /// Cuts open requests of a person who lost these rights.
    public void cut(TeamKey rights) {
        open.cut(key -> key.id().equals(rights.id()));
    }

    /// Cuts open requests with tokens of a sign-in that has ended.
    void cutSignIn(String signIn) {
        open.cut(key -> signIn.equals(key.signIn()));
    }

    /// Cuts open requests whose keys have expired, and those with an operator's token that was renewed. Called every
    /// second.
    public void cutExpired() {
        var now = clock.instant();
        open.cut(key -> known.ofId(key.id()).filter(other -> other.isOver(now)).isPresent());
        if (open.hasOperators()) {
            open.cutOperatorsBut(admin.fingerprint());
        }
    }

    /// Serves the handler only to requests with a key that may send them.
    public Handler guard(TeamHandler handler) {
        return guardCaller((caller, exchange) -> handler.handle(caller.team(), exchange));
    }

    /// Guards a handler that needs the whole caller.
    public Handler guardCaller(CallerHandler handler) {
        return audited((exchange, act) -> {
            var caller = authenticate(exchange, act);
            serve(caller, exchange, handler);
        });
    }

    /// Has the request cut when its key is revoked.
    private void serve(Caller caller, Exchange exchange, CallerHandler handler) throws Exception {
        var key = caller.key();
        if (key == null) {
            serveOperator(exchange, request -> handler.handle(caller, request));
            return;
        }
        open.add(key, exchange);
        try {
            requireKnown(exchange);
            handler.handle(caller, exchange);
        } finally {
            open.remove(exchange);
        }
    }

    /// Has the request cut when the operator's token is renewed.
    private void serveOperator(Exchange exchange, Handler handler) throws Exception {
        open.addOperator(AdminToken.fingerprint(String.valueOf(exchange.header(AdminToken.HEADER))), exchange);
        try {
            handler.handle(exchange);
        } finally {
            open.remove(exchange);
        }
    }

    /// Has the audit log note who sent the request and how it ended.
    private Handler audited(Audited handler) {
        return exchange -> {
            var act = audit.begin(exchange);
            try {
                handler.handle(exchange, act);
                act.end(null);
            } catch (Exception e) {
                act.end(e);
                throw e;
            }
        };
    }

    /// Guards requests that carry neither a key nor the operator's token; the handler checks their credential, and
    /// reports it.
    public Handler guardToken(TokenHandler handler) {
        return audited(handler::handle);
    }

    /// Handles a request whose credential it checks itself.
    public interface TokenHandler {
        /// @param act gets the owner of the credential
        void handle(Exchange exchange, Audit.Act act) throws Exception;
    }

    private interface Audited {
        void handle(Exchange exchange, Audit.Act act) throws Exception;
    }

    /// Refuses a request whose key was revoked after its authentication: such a request was not open yet when the
    /// others were cut.
    private void requireKnown(Exchange exchange) {
        var credential = Credential.of(exchange);
        if (credential.isOfPerson()) {
            people().rights(credential.text(), Credential.namedTeam(exchange));
        } else if (!knows(credential)) {
            throw Credential.unauthenticated("the API key was revoked");
        }
    }

    /// Guards an operator's route: for the admin token, or keys of the first team with the scope `all`.
    public Handler guardOperator(TeamHandler handler) {
        return audited((exchange, act) -> {
            if (exchange.header(AdminToken.HEADER) != null) {
                requireAdmin(exchange, act);
                serveOperator(exchange, request -> handler.handle(firstTeam(), request));
                return;
            }
            var caller = authenticate(exchange, act);
            if (!caller.team().equals(firstTeam()) || caller.scope().kind() != KeyScope.Kind.ALL) {
                throw new CayException(
                        ErrorKind.PERMISSION_DENIED,
                        "only keys of the team '%s' that may do everything may do this"
                                .formatted(firstTeam().name()));
            }
            serve(caller, exchange, (who, request) -> handler.handle(who.team(), request));
        });
    }

    /// Guards an operator's route that needs the admin token.
    public Handler guardAdmin(Handler handler) {
        return audited((exchange, act) -> {
            requireAdmin(exchange, act);
            serveOperator(exchange, handler);
        });
    }

    /// Whether the request carries the operator's token.
    public boolean isOperator(Exchange exchange) {
        String token = exchange.header(AdminToken.HEADER);
        return token != null && admin.fits(token);
    }

    private void requireAdmin(Exchange exchange, Audit.Act act) {
        if (!isOperator(exchange)) {
            throw Credential.unauthenticated(
                    "this takes the operator's token in the header '%s'; `sudo ./cay admin-token` prints it"
                            .formatted(AdminToken.HEADER));
        }
        act.byOperator();
    }

    /// Authenticates a request, and counts it.
    private Caller authenticate(Exchange exchange, Audit.Act act) {
        if (exchange.header(AdminToken.HEADER) != null) {
            requireAdmin(exchange, act);
            var operator = new Caller(teamOfAdmin(exchange), null);
            act.by(operator);
            return operator;
        }
        var key = key(exchange);
        var caller = new Caller(key.team(), key);
        act.by(caller);
        var now = clock.instant();
        if (key.isOver(now)) {
            throw Credential.unauthenticated("the API key '%s' expired at %s; make another with `cay key create`"
                    .formatted(key.name(), key.expiresAt()));
        }
        // Before the scope is checked, because requests that the scope forbids count, too.
        admission.call(caller);
        if (!key.scope().allows(request(exchange))) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the API key '%s' may not do this: its scope is %s".formatted(key.name(), key.scope()));
        }
        if (!key.isOfPerson()) {
            known.noteUse(key, now);
        }
        return caller;
    }

    private TeamKey key(Exchange exchange) {
        var credential = Credential.of(exchange);
        if (credential.isOfPerson()) {
            return people().rights(credential.text(), Credential.namedTeam(exchange));
        }
        var key = known.ofHash(credential.key().hash());
        if (key == null) {
            throw Credential.unauthenticated(
                    "the API key is not known here: wrong key, a revoked one, or a key of another server"
                            + Credential.FIX);
        }
        return key;
    }

    private static KeyScope.Request request(Exchange exchange) {
        return new KeyScope.Request(exchange.method(), exchange.route(), exchange.parameters());
    }

    /// The operator acts for the team that the path names, else the header.
    private Team teamOfAdmin(Exchange exchange) {
        var id = Credential.namedTeam(exchange);
        if (id == null) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the operator says for which team: send its id in the header '%s'"
                            .formatted(Credential.TEAM_HEADER));
        }
        return requireTeam(id);
    }

    /// What an API key opens; empty if it is not known, or has expired.
    public Optional<TeamKey> rightsOfKey(String text) {
        var credential = new Credential(text.strip());
        return credential.isApiKey()
                ? Optional.ofNullable(known.ofHash(credential.key().hash())).filter(key -> !key.isOver(clock.instant()))
                : Optional.empty();
    }

    /// What a person may do in each of their teams.
    ///
    /// @throws CayException if the token is not good, or its owner is a member of no team
    public List<TeamKey> rightsOfPerson(String token) {
        return people().rights(token);
    }

    /// Whether this is a valid credential of this server, of any owner.
    public boolean knows(String credential) {
        return knows(new Credential(credential.strip()));
    }

    private boolean knows(Credential credential) {
        if (credential.isOfPerson()) {
            return people().knows(credential.text());
        }
        return credential.isApiKey() && known.ofHash(credential.key().hash()) != null;
    }

    /// Writes the last uses of keys, which are only in memory until then.
    public void close() {
        known.close();
    }
}
