package dev.cay.server.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.quota.Quotas;
import dev.cay.server.request.RequestBody;
import dev.cay.server.volume.Volumes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Routes that create, connect to, show, change, pause and end sandboxes.
///
/// The newer create and connect routes differ from the older ones only in their defaults: both stay, because old
/// clients do.
public final class SandboxRoutes {
    private static final Duration OLD_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration LEAST_REFRESH = Duration.ofSeconds(15);
    private static final int MOST_REFRESH = 3600;

    /// An addition of Cay.
    private static final String PAUSE_ACK = "Cay-Pause-Ack";

    private final Access access;
    private final Sandboxes sandboxes;
    private final SandboxStarter starter;
    private final Pauses pauses;
    private final RepeatableCreates repeatable;
    private final SandboxView view;
    private final Quotas quotas;
    private final NetworkReader networks;
    private final Volumes volumes;
    private final Duration timeout;
    private final Duration maxTimeout;

    /// @param timeout default lifetime of a sandbox on the newer routes
    public SandboxRoutes(
            Access access,
            Sandboxes sandboxes,
            SandboxStarter starter,
            Pauses pauses,
            RepeatableCreates repeatable,
            SandboxView view,
            Quotas quotas,
            NetworkReader networks,
            Volumes volumes,
            Duration timeout,
            Duration maxTimeout) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.starter = starter;
        this.pauses = pauses;
        this.repeatable = repeatable;
        this.view = view;
        this.quotas = quotas;
        this.networks = networks;
        this.volumes = volumes;
        this.timeout = timeout;
        this.maxTimeout = maxTimeout;
    }

    public void addTo(Routes routes) {
        var old = new NewSandbox.Rules(OLD_TIMEOUT, maxTimeout, false);
        var current = new NewSandbox.Rules(timeout, maxTimeout, true);
        routes.on("POST", "/sandboxes", access.guardCaller((caller, exchange) -> create(caller, exchange, old)));
        routes.on("POST", "/v2/sandboxes", access.guardCaller((caller, exchange) -> create(caller, exchange, current)));
        routes.on("GET", "/sandboxes/{sandboxID}", access.guardCaller(this::show));
        routes.on("DELETE", "/sandboxes/{sandboxID}", access.guard(this::kill));
        routes.on("POST", "/sandboxes/{sandboxID}/connect", access.guard(this::connect));
        routes.on("POST", "/v2/sandboxes/{sandboxID}/connect", access.guard(this::connectV2));
        routes.on("POST", "/sandboxes/{sandboxID}/resume", access.guard(this::resume));
        routes.on("POST", "/sandboxes/{sandboxID}/pause", access.guard(this::pause));
        routes.on("POST", "/sandboxes/{sandboxID}/timeout", access.guard(this::setTimeout));
        routes.on("POST", "/sandboxes/{sandboxID}/refreshes", access.guard(this::refresh));
        routes.on("PUT", "/sandboxes/{sandboxID}/network", access.guardCaller(this::setNetwork));
    }

    private void create(Caller caller, Exchange exchange, NewSandbox.Rules rules) {
        var body = RequestBody.of(exchange);
        var wanted = NewSandbox.read(
                body, rules, networks.create(caller, body), wishes -> volumes.require(caller.team(), wishes));
        String key = exchange.header("Idempotency-Key");
        var sandbox = key == null ? start(caller, wanted) : repeatable.create(caller, wanted, key);
        exchange.about("sandbox", sandbox.id().value())
                .about("template", sandbox.templateId().value())
                .sendJson(201, view.info(sandbox));
    }

    private SandboxRecord start(Caller caller, NewSandbox wanted) {
        quotas.create(caller, 1);
        return starter.start(caller, wanted, null);
    }

    private void show(Caller caller, Exchange exchange) {
        var sandbox = sandbox(caller.team(), exchange);
        exchange.sendJson(200, view.detail(sandbox, caller.scope().opensSandboxes()));
    }

    private void kill(Team team, Exchange exchange) {
        sandboxes.kill(sandbox(team, exchange), KillReason.REQUEST);
        exchange.send(204);
    }

    private void connect(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        Integer seconds = body.integer("timeout");
        if (seconds == null || seconds < 0) {
            throw RequestBody.invalid("'timeout' is required: for how many seconds the sandbox shall live at least");
        }
        connect(team, exchange, body, RequestBody.checkedTimeout(seconds, maxTimeout));
    }

    private void connectV2(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        Integer seconds = body.integer("timeout");
        if (seconds != null && seconds < 1) {
            throw RequestBody.invalid("'timeout' must be at least 1 second");
        }
        connect(team, exchange, body, seconds == null ? timeout : RequestBody.checkedTimeout(seconds, maxTimeout));
    }

    /// Resumes a paused sandbox; gives a running one more time, without touching its memory.
    private void connect(Team team, Exchange exchange, RequestBody body, Duration wanted) {
        var wish = new Pauses.Wish(wanted, !Boolean.FALSE.equals(body.bool("memory")), null, true);
        var resumed = pauses.connect(sandbox(team, exchange).id(), wish);
        exchange.sendJson(resumed.wasPaused() ? 201 : 200, view.info(resumed.sandbox()));
    }

    private void resume(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        Integer seconds = body.integer("timeout");
        if (seconds != null && seconds < 0) {
            throw RequestBody.invalid("'timeout' must be at least 0 seconds");
        }
        var wish = new Pauses.Wish(
                seconds == null ? OLD_TIMEOUT : RequestBody.checkedTimeout(seconds, maxTimeout),
                !Boolean.FALSE.equals(body.bool("memory")),
                body.bool("autoPause"),
                true);
        var resumed = pauses.resume(sandbox(team, exchange).id(), wish);
        if (!resumed.wasPaused()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "Sandbox %s is already running".formatted(resumed.sandbox().id()));
        }
        exchange.sendJson(201, view.info(sandboxes.extend(resumed.sandbox(), wish.timeout())));
    }

    private void pause(Team team, Exchange exchange) {
        Boolean memory = RequestBody.of(exchange).bool("memory");
        var sandbox = sandbox(team, exchange);
        Keep keep = sandbox.lifecycle().onRequest();
        if (memory != null) {
            keep = memory ? Keep.MEMORY : Keep.FILES;
        }
        pauses.pause(sandbox, keep, ack(exchange));
        exchange.send(204);
    }

    /// What the client wants to be told: that the sandbox is frozen, or that it is saved.
    private static @Nullable Durability ack(Exchange exchange) {
        String word = exchange.header(PAUSE_ACK);
        if (word == null) {
            return null;
        }
        return Arrays.stream(Durability.values())
                .filter(known -> known.word().equals(word))
                .findFirst()
                .orElseThrow(() -> RequestBody.invalid("the header %s must be frozen or saved".formatted(PAUSE_ACK)));
    }

    private void setTimeout(Team team, Exchange exchange) {
        Integer seconds = RequestBody.of(exchange).integer("timeout");
        if (seconds == null) {
            throw RequestBody.invalid("'timeout' is required: in how many seconds the sandbox shall end");
        }
        sandboxes.setTimeout(running(team, exchange), Duration.ofSeconds(Math.max(0, seconds)));
        exchange.send(204);
    }

    private void refresh(Team team, Exchange exchange) {
        Integer seconds = RequestBody.of(exchange).integer("duration");
        if (seconds != null && (seconds < 0 || seconds > MOST_REFRESH)) {
            throw RequestBody.invalid("'duration' must be from 0 to %d seconds".formatted(MOST_REFRESH));
        }
        Duration wanted = Duration.ofSeconds(Math.max(LEAST_REFRESH.toSeconds(), seconds == null ? 0 : seconds));
        sandboxes.extend(running(team, exchange), wanted);
        exchange.send(204);
    }

    /// Replaces all egress settings: fields that are left out are reset.
    private void setNetwork(Caller caller, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var id = running(caller.team(), exchange).id();
        // One change at a time, and none of the state in between: the node and the record must say the same.
        pauses.alone(id, () -> {
            var sandbox = sandboxes.requireRunning(caller.team(), id);
            sandboxes.setNetwork(sandbox, networks.update(caller, body, sandbox.network()), networks::egress);
        });
        exchange.send(204);
    }

    private SandboxRecord running(Team team, Exchange exchange) {
        return sandboxes.requireRunning(team, SandboxId.parse(exchange.parameter("sandboxID")));
    }

    private SandboxRecord sandbox(Team team, Exchange exchange) {
        return sandboxes.require(team, SandboxId.parse(exchange.parameter("sandboxID")));
    }
}
