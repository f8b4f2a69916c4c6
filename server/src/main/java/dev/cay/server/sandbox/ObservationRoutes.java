package dev.cay.server.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.rest.SandboxMetric;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What sandboxes use and say. There are no logs yet, so those are empty lists in the shape clients expect.
public final class ObservationRoutes {
    private static final int MOST_IDS = 100;

    private final Access access;
    private final Sandboxes sandboxes;
    private final SandboxMetrics metrics;

    public ObservationRoutes(Access access, Sandboxes sandboxes, SandboxMetrics metrics) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.metrics = metrics;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes/{sandboxID}/metrics", access.guard(this::metrics));
        routes.on("GET", "/sandboxes/metrics", access.guard(this::newestMetrics));
        routes.on("GET", "/sandboxes/{sandboxID}/logs", access.guard(this::logs));
        routes.on("GET", "/v2/sandboxes/{sandboxID}/logs", access.guard(this::logsV2));
    }

    private void metrics(Team team, Exchange exchange) {
        var sandbox = sandbox(team, exchange);
        long start = seconds(exchange, "start", Long.MIN_VALUE);
        long end = seconds(exchange, "end", Long.MAX_VALUE);
        if (start > end) {
            throw invalid("'start' is later than 'end'");
        }
        exchange.sendJson(
                200,
                metrics.of(sandbox.id()).stream()
                        .map(SandboxView::metric)
                        .filter(metric -> metric.timestampUnix() >= start && metric.timestampUnix() <= end)
                        .toList());
    }

    /// The newest reading of each; sandboxes without one, or of others, are left away.
    private void newestMetrics(Team team, Exchange exchange) {
        String text = exchange.query("sandbox_ids");
        var ids = text == null || text.isEmpty() ? List.<String>of() : List.of(text.split(","));
        if (ids.isEmpty() || ids.size() > MOST_IDS || ids.stream().distinct().count() != ids.size()) {
            throw invalid("'sandbox_ids' must be 1 to %d different ids with commas".formatted(MOST_IDS));
        }
        var newest = new LinkedHashMap<String, SandboxMetric>();
        for (var sandbox : sandboxes.list(team)) {
            var readings = metrics.of(sandbox.id());
            if (ids.contains(sandbox.id().value()) && !readings.isEmpty()) {
                newest.put(sandbox.id().value(), SandboxView.metric(readings.getLast()));
            }
        }
        exchange.sendJson(200, Map.of("sandboxes", newest));
    }

    private void logs(Team team, Exchange exchange) {
        sandbox(team, exchange);
        exchange.sendJson(200, Map.of("logs", List.of(), "logEntries", List.of()));
    }

    private void logsV2(Team team, Exchange exchange) {
        sandbox(team, exchange);
        exchange.sendJson(200, Map.of("logs", List.of()));
    }

    private SandboxRecord sandbox(Team team, Exchange exchange) {
        return sandboxes.require(team, SandboxId.parse(exchange.parameter("sandboxID")));
    }

    private static long seconds(Exchange exchange, String name, long absent) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return absent;
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw invalid("'%s' must be a time in seconds since 1970".formatted(name));
        }
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
