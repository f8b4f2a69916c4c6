package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.Caller;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.TeamKey;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// Members of teams, for the operator and for those who may do everything in the team; people, for the operator.
final class MemberRoutes {
    private final Access access;
    private final ApiKeys keys;
    private final People people;
    private final SignIns signIns;
    private final SignInOptions ways;
    private final Function<SandboxId, Optional<TeamId>> owner;
    private final ToIntFunction<TeamKey> renewal;

    /// @param owner   the team of a sandbox that lives
    /// @param renewal renews the tokens of all sandboxes that these rights opened, and returns their number
    MemberRoutes(
            Access access,
            ApiKeys keys,
            People people,
            SignIns signIns,
            SignInOptions ways,
            Function<SandboxId, Optional<TeamId>> owner,
            ToIntFunction<TeamKey> renewal) {
        this.access = access;
        this.keys = keys;
        this.people = people;
        this.signIns = signIns;
        this.ways = ways;
        this.owner = owner;
        this.renewal = renewal;
    }

    /// Answers for a team, on the word of one of its callers or of the operator.
    private interface Action {
        void handle(Caller caller, Exchange exchange);
    }

    void addTo(Routes routes) {
        add(routes, "GET", "", this::list);
        add(routes, "PUT", "/{email}", this::put);
        add(routes, "DELETE", "/{email}", this::removeMember);
        routes.on("GET", "/admin/people", access.guardAdmin(this::all));
        routes.on("DELETE", "/admin/people/{email}", access.guardAdmin(this::remove));
        routes.on("POST", "/admin/people/{email}/link", access.guardAdmin(this::link));
    }

    private void add(Routes routes, String method, String path, Action action) {
        routes.on(method, "/members" + path, access.guardCaller(action::handle));
        routes.on(
                method,
                "/admin/teams/{teamID}/members" + path,
                access.guardAdmin(exchange -> action.handle(
                        new Caller(access.requireTeam(new TeamId(exchange.parameter("teamID"))), null), exchange)));
    }

    private void list(Caller caller, Exchange exchange) {
        exchange.sendJson(
                200,
                people.members(caller.team()).stream().map(MemberRoutes::info).toList());
    }

    private void put(Caller caller, Exchange exchange) {
        var team = caller.team();
        String email = exchange.parameter("email");
        String scope = RequestBody.of(exchange).filled("scope");
        var before = people.findMember(team, email);
        requireMayChange(caller, before);
        var rights = KeyScope.wanted(scope, team.id(), owner);
        var member = caller.key() == null ? people.add(team, email, rights) : people.addForTeam(team, email, rights);
        var answer = new TreeMap<>(info(member));
        answer.putAll(kept(people.widerThan(member)));
        before.filter(old -> !member.scope().covers(old.scope()))
                .ifPresent(old -> answer.putAll(renewed(exchange, List.of(old))));
        exchange.about("person", member.person().id()).sendJson(200, answer);
    }

    private void removeMember(Caller caller, Exchange exchange) {
        var team = caller.team();
        String email = exchange.parameter("email");
        var found = people.findMember(team, email);
        requireMayChange(caller, found);
        // The same for a person of other teams and for one whom nobody knows.
        var member = found.orElseThrow(() -> new CayException(
                ErrorKind.NOT_FOUND, "%s is no member of team '%s'".formatted(Person.email(email), team.slug())));
        exchange.about("person", member.person().id());
        var answer = new TreeMap<>(kept(people.removeMember(member)));
        answer.putAll(renewed(exchange, List.of(member)));
        exchange.sendJson(200, answer);
    }

    /// A key that ends or has limits lets nobody into the team who has neither. No person changes their own rights, so
    /// that one who may change members stays.
    private void requireMayChange(Caller caller, Optional<Member> member) {
        keys.requireUnbounded(caller.key());
        String self = person(caller.key());
        if (member.filter(known -> known.person().id().equals(self)).isPresent()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "your own rights are changed by another member of the team, or by the operator");
        }
    }

    /// The id of the person who acts: by their own token, or by a key that a program of theirs got when they signed in.
    private static @Nullable String person(@Nullable TeamKey key) {
        return key != null && (key.isOfPerson() || key.signIn() != null) ? key.person() : null;
    }

    /// Tokens of sandboxes that the person could read are good until they are renewed.
    private Map<String, Object> renewed(Exchange exchange, List<Member> rights) {
        if (!"true".equals(exchange.query("sandboxes"))) {
            return Map.of();
        }
        int count = rights.stream().map(People::rights).mapToInt(renewal).sum();
        return Map.of("renewedSandboxes", count);
    }

    private void all(Exchange exchange) {
        exchange.sendJson(
                200,
                people.list().stream()
                        .map(person -> Map.of(
                                "id",
                                person.id(),
                                "email",
                                person.email(),
                                "teams",
                                people.memberships(person).stream()
                                        .map(member -> member.team().slug())
                                        .toList()))
                        .toList());
    }

    private void remove(Exchange exchange) {
        var person = person(exchange);
        var rights = people.memberships(person);
        exchange.about("person", person.id());
        var answer = new TreeMap<>(kept(people.remove(person.email())));
        answer.putAll(renewed(exchange, rights));
        exchange.sendJson(200, answer);
    }

    /// Makes a link that signs a browser in as this person. Only the operator may make links, because they decide who
    /// gets one.
    private void link(Exchange exchange) {
        String email = exchange.parameter("email");
        if (Boolean.TRUE.equals(RequestBody.of(exchange).bool("first"))
                && people.find(email).isEmpty()) {
            people.add(access.firstTeam(), email, KeyScope.ALL);
        }
        var person = person(exchange);
        var link = signIns.link(person);
        exchange.about("person", person.id())
                .with("Cache-Control", "no-store")
                .sendJson(
                        201,
                        Map.of(
                                "url",
                                ways.address(BrowserRoutes.LINK) + "?token=" + link.text(),
                                "expiresIn",
                                SignIns.LINK_LIFE.toSeconds()));
    }

    private static Map<String, Object> info(Member member) {
        return Map.of(
                "email",
                member.person().email(),
                "scope",
                member.scope().toString(),
                "teamID",
                member.team().id().value());
    }

    private static Map<String, Object> kept(List<TeamKey> keys) {
        return Map.of(
                "keptKeys",
                keys.stream()
                        .map(key -> Map.of(
                                "id",
                                key.id(),
                                "name",
                                key.name(),
                                "teamID",
                                key.team().id().value()))
                        .toList());
    }

    /// The one that the path names. The audit log has the id, as an address is a name.
    private Person person(Exchange exchange) {
        return people.require(exchange.parameter("email"));
    }
}
