package dev.cay.server.snapshot;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.quota.Quotas;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.SandboxId;
import java.time.Duration;

/// Make copies of a running sandbox.
public final class ForkRoutes {
    /// Default lifetime of a fork. Older clients always sent one. New ones send none, and E2B's 15 seconds are too
    /// short for most uses.
    private static final Duration TIMEOUT = Duration.ofSeconds(300);

    private static final int MOST = 100;

    private final Access access;
    private final Sandboxes sandboxes;
    private final Forks forks;
    private final Quotas quotas;
    private final Duration maxTimeout;

    public ForkRoutes(Access access, Sandboxes sandboxes, Forks forks, Quotas quotas, Duration maxTimeout) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.forks = forks;
        this.quotas = quotas;
        this.maxTimeout = maxTimeout;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/sandboxes/{sandboxID}/fork", access.guardCaller(this::fork));
    }

    private void fork(Caller caller, Exchange exchange) {
        var body = RequestBody.of(exchange);
        Integer count = body.integer("count");
        if (count != null && (count < 1 || count > MOST)) {
            throw RequestBody.invalid("'count' must be from 1 to %d".formatted(MOST));
        }
        var timeout = body.timeout(TIMEOUT, maxTimeout);
        var source = sandboxes.requireRunning(caller.team(), SandboxId.parse(exchange.parameter("sandboxID")));
        int copies = count == null ? 1 : count;
        quotas.create(caller, copies);
        var made = forks.fork(source, caller, copies, timeout);
        for (var one : made) {
            if (one.sandbox() != null) {
                exchange.about("fork", one.sandbox().sandboxID());
            }
        }
        exchange.sendJson(201, made);
    }
}
