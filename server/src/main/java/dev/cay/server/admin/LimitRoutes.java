package dev.cay.server.admin;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.access.TeamKey;
import dev.cay.server.quota.Limits;
import dev.cay.server.quota.Quotas;
import dev.cay.server.quota.Use;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.DiskShares;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Limits: of a team for the operator to set and for the team to see, and of keys for their team.
public final class LimitRoutes {
    private final Access access;
    private final Quotas quotas;
    private final ApiKeys keys;
    private final Sandboxes sandboxes;
    private final DiskShares shares;

    public LimitRoutes(Access access, Quotas quotas, ApiKeys keys, Sandboxes sandboxes, DiskShares shares) {
        this.access = access;
        this.quotas = quotas;
        this.keys = keys;
        this.sandboxes = sandboxes;
        this.shares = shares;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/limits", access.guard(this::show));
        routes.on("GET", "/admin/teams/{teamID}/limits", access.guardAdmin(exchange -> show(team(exchange), exchange)));
        routes.on("PUT", "/admin/teams/{teamID}/limits", access.guardAdmin(this::set));
        routes.on("DELETE", "/admin/teams/{teamID}/limits", access.guardAdmin(this::reset));
        addOfKey(routes, "GET", this::showKey);
        addOfKey(routes, "PUT", this::setKey);
    }

    /// Adds a route for a key's limits, for the team's own keys and for the operator.
    private void addOfKey(Routes routes, String method, Access.CallerHandler action) {
        routes.on(method, "/api-keys/{apiKeyID}/limits", access.guardCaller(action));
        routes.on(
                method,
                "/admin/teams/{teamID}/api-keys/{apiKeyID}/limits",
                access.guardAdmin(exchange -> action.handle(new Caller(team(exchange), null), exchange)));
    }

    private void show(Team team, Exchange exchange) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("source", quotas.hasOwn(team.id()) ? "team" : "default");
        answer.put("limits", quotas.of(team.id()).values());
        answer.put("use", numbers(sandboxes.use(team), shares.heldMB(team.id())));
        exchange.sendJson(200, answer);
    }

    private static Map<String, @Nullable Object> numbers(Use use, @Nullable Long diskMB) {
        var numbers = new LinkedHashMap<String, @Nullable Object>();
        numbers.put("sandboxes", use.sandboxes());
        numbers.put("vcpus", use.vcpus());
        numbers.put("memoryMB", use.memoryMB());
        numbers.put("diskMB", diskMB);
        return numbers;
    }

    private void set(Exchange exchange) {
        var team = team(exchange);
        quotas.set(team.id(), changed(RequestBody.of(exchange), quotas.of(team.id())));
        show(team, exchange);
    }

    private void reset(Exchange exchange) {
        quotas.set(team(exchange).id(), null);
        exchange.send(204);
    }

    private void showKey(Caller caller, Exchange exchange) {
        String family = key(caller, exchange).family();
        var answer = new LinkedHashMap<String, Object>();
        answer.put("limits", quotas.ofKeys(family).values());
        answer.put(
                "use",
                numbers(sandboxes.use(family), shares.heldMB(caller.team().id(), family)));
        exchange.sendJson(200, answer);
    }

    private void setKey(Caller caller, Exchange exchange) {
        var own = caller.key();
        if (own != null && quotas.isLimited(own)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the API key '%s' has limits of its own, so it changes none".formatted(own.name()));
        }
        var key = key(caller, exchange);
        var body = RequestBody.of(exchange);
        quotas.setKey(key, changed(body, quotas.ofKeys(key.family())));
        showKey(caller, exchange);
    }

    /// The limits after a change: fields of the body replace the old ones; null removes a limit, `profile` sets all
    /// first.
    private static Limits changed(RequestBody body, Limits before) {
        String profile = body.text("profile");
        var base = profile == null
                ? before
                : Limits.profile(profile)
                        .orElseThrow(() -> RequestBody.invalid(
                                "'profile' must be none, hobby or pro, not '%s'".formatted(profile)));
        var values = base.values();
        var known = new HashSet<>(values.keySet());
        known.add("profile");
        body.requireOnly(known);
        values.replaceAll((name, value) -> body.mentions(name) ? checked(name, body.integer(name)) : value);
        return Limits.of(values);
    }

    private static @Nullable Integer checked(String name, @Nullable Integer value) {
        if (value != null && value < 1) {
            throw RequestBody.invalid("'%s' must be at least 1, or null for no limit".formatted(name));
        }
        return value;
    }

    private TeamKey key(Caller caller, Exchange exchange) {
        return keys.require(caller.team(), exchange.parameter("apiKeyID"));
    }

    private Team team(Exchange exchange) {
        return access.requireTeam(new TeamId(exchange.parameter("teamID")));
    }
}
