package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.request.RequestBody;
import dev.cay.server.request.Times;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.ApiKeyInfo;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// API keys of a team, for its own keys and for the operator.
public final class KeyRoutes {
    private static final int VALUE_LENGTH = 40;
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

    private final Access access;
    private final ApiKeys keys;
    private final Function<SandboxId, Optional<TeamId>> owner;
    private final ToIntFunction<TeamKey> renewal;

    /// @param owner   the team of a sandbox that lives
    /// @param renewal renews the tokens of sandboxes that a key could open, and says of how many
    public KeyRoutes(
            Access access, ApiKeys keys, Function<SandboxId, Optional<TeamId>> owner, ToIntFunction<TeamKey> renewal) {
        this.access = access;
        this.keys = keys;
        this.owner = owner;
        this.renewal = renewal;
    }

    /// Answers for a team, on the word of one of its keys or of the operator.
    private interface Action {
        void handle(Caller caller, Exchange exchange);
    }

    public void addTo(Routes routes) {
        add(routes, "GET", "", this::list);
        add(routes, "POST", "", this::create);
        add(routes, "PATCH", "/{apiKeyID}", this::rename);
        add(routes, "DELETE", "/{apiKeyID}", this::revoke);
        add(routes, "POST", "/{apiKeyID}/rotate", this::rotate);
    }

    private void add(Routes routes, String method, String path, Action action) {
        routes.on(method, "/api-keys" + path, access.guardCaller(action::handle));
        routes.on(
                method,
                "/admin/teams/{teamID}/api-keys" + path,
                access.guardAdmin(exchange -> action.handle(
                        new Caller(access.requireTeam(new TeamId(exchange.parameter("teamID"))), null), exchange)));
    }

    private void list(Caller caller, Exchange exchange) {
        exchange.sendJson(
                200,
                keys.list(caller.team()).stream().map(key -> info(key, null)).toList());
    }

    private void create(Caller caller, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var scope = KeyScope.wanted(body.text("scope"), caller.team().id(), owner);
        var wanted = new ApiKeys.Wanted(name(body), scope, time(body, "expiresAt"));
        send(exchange, keys.create(caller.team(), wanted, caller.key()));
    }

    private void rename(Caller caller, Exchange exchange) {
        String id = exchange.parameter("apiKeyID");
        exchange.sendJson(200, info(keys.rename(caller.team(), id, name(RequestBody.of(exchange))), null));
    }

    private void revoke(Caller caller, Exchange exchange) {
        var key = keys.require(caller.team(), exchange.parameter("apiKeyID"));
        boolean sandboxes = "true".equals(exchange.query("sandboxes"));
        keys.revoke(caller.team(), key.id());
        if (sandboxes) {
            exchange.sendJson(200, Map.of("renewedSandboxes", renewal.applyAsInt(key)));
        } else {
            exchange.send(204);
        }
    }

    private void rotate(Caller caller, Exchange exchange) {
        Integer seconds = RequestBody.of(exchange).integer("overlapSeconds");
        var overlap = Duration.ofSeconds(seconds == null ? 0 : seconds);
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0) {
            throw RequestBody.invalid(
                    "'overlapSeconds' must be between 0 and %d".formatted(LONGEST_OVERLAP.toSeconds()));
        }
        send(exchange, keys.rotate(caller.team(), exchange.parameter("apiKeyID"), overlap, caller.key()));
    }

    private static void send(Exchange exchange, ApiKeys.Made made) {
        exchange.about("key", made.key().id())
                .with("Cache-Control", "no-store")
                .sendJson(201, info(made.key(), made.text()));
    }

    private static String name(RequestBody body) {
        String name = body.text("name");
        if (name == null) {
            throw RequestBody.invalid("'name' is required: what people know the key by");
        }
        return name;
    }

    private static @Nullable Instant time(RequestBody body, String field) {
        String text = body.text(field);
        try {
            return text == null ? null : Times.parse(text);
        } catch (DateTimeException e) {
            throw RequestBody.invalid("'%s' must be a time like 2026-12-31T00:00:00Z, not '%s'".formatted(field, text));
        }
    }

    private static ApiKeyInfo info(TeamKey key, @Nullable String text) {
        return new ApiKeyInfo(
                key.id(),
                text,
                key.name(),
                new ApiKeyInfo.Mask(ApiKey.PREFIX, VALUE_LENGTH, key.maskPrefix(), key.maskSuffix()),
                key.scope().toString(),
                key.createdAt(),
                key.lastUsed(),
                key.expiresAt(),
                key.person() == null ? null : new ApiKeyInfo.Person(key.person(), null));
    }
}
