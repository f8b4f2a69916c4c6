package dev.cay.server.metrics;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.MaxTeamMetric;
import dev.cay.wire.rest.SandboxMetric;
import dev.cay.wire.rest.TeamMetric;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Metrics of sandboxes and of teams.
public final class MetricRoutes {
    private static final int MOST_IDS = 100;

    private final Access access;
    private final Sandboxes sandboxes;
    private final SandboxMetrics metrics;
    private final TeamMetrics teams;
    private final InstantSource clock;

    public MetricRoutes(
            Access access, Sandboxes sandboxes, SandboxMetrics metrics, TeamMetrics teams, InstantSource clock) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.metrics = metrics;
        this.teams = teams;
        this.clock = clock;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes/{sandboxID}/metrics", access.guard(this::ofSandbox));
        routes.on("GET", "/sandboxes/metrics", access.guard(this::newest));
        routes.on("GET", "/teams/{teamID}/metrics", access.guard(this::ofTeam));
        routes.on("GET", "/teams/{teamID}/metrics/max", access.guard(this::highestOfTeam));
    }

    private void ofSandbox(Team team, Exchange exchange) {
        var sandbox = sandboxes.requireKnown(team, SandboxId.parse(exchange.parameter("sandboxID")));
        var range = Range.of(exchange);
        exchange.sendJson(200, metrics.of(sandbox, range.start(), range.end()));
    }

    /// The newest reading of each; sandboxes without one, or of others, are left away.
    private void newest(Team team, Exchange exchange) {
        String text = exchange.query("sandbox_ids");
        var ids = text == null || text.isEmpty() ? List.<String>of() : List.of(text.split(","));
        if (ids.isEmpty() || ids.size() > MOST_IDS || ids.stream().distinct().count() != ids.size()) {
            throw invalid("'sandbox_ids' must be 1 to %d different ids with commas".formatted(MOST_IDS));
        }
        var newest = new LinkedHashMap<String, SandboxMetric>();
        for (var sandbox : sandboxes.list(team)) {
            if (ids.contains(sandbox.id().value())) {
                metrics.newest(sandbox)
                        .ifPresent(metric -> newest.put(sandbox.id().value(), metric));
            }
        }
        exchange.sendJson(200, Map.of("sandboxes", newest));
    }

    private void ofTeam(Team team, Exchange exchange) {
        exchange.sendJson(
                200, rows(team, exchange).stream().map(MetricRoutes::render).toList());
    }

    private void highestOfTeam(Team team, Exchange exchange) {
        var metric = metric(exchange.query("metric"));
        var highest = rows(team, exchange).stream().max(Comparator.comparingDouble(metric::of));
        long now = clock.instant().getEpochSecond();
        long at = highest.map(row -> row[0]).orElse(now);
        exchange.sendJson(
                200,
                new MaxTeamMetric(
                        Instant.ofEpochSecond(at), at, highest.map(metric::of).orElse(0.0)));
    }

    private List<long[]> rows(Team team, Exchange exchange) {
        if (!new TeamId(exchange.parameter("teamID")).equals(team.id())) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "this API key is of another team");
        }
        var range = Range.of(exchange);
        return teams.of(team.id(), range.start(), range.end());
    }

    private static TeamMetric render(long[] row) {
        return new TeamMetric(
                Instant.ofEpochSecond(row[0]),
                row[0],
                (int) TeamMetrics.Metric.CONCURRENT_SANDBOXES.of(row),
                TeamMetrics.Metric.SANDBOX_START_RATE.of(row));
    }

    private static TeamMetrics.Metric metric(@Nullable String name) {
        return Arrays.stream(TeamMetrics.Metric.values())
                .filter(metric -> metric.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst()
                .orElseThrow(() -> invalid("'metric' must be concurrent_sandboxes or sandbox_start_rate"));
    }

    /// Seconds since 1970, both included.
    private record Range(long start, long end) {
        static Range of(Exchange exchange) {
            var range = new Range(seconds(exchange, "start", Long.MIN_VALUE), seconds(exchange, "end", Long.MAX_VALUE));
            if (range.start > range.end) {
                throw invalid("'start' is later than 'end'");
            }
            return range;
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
    }

    private static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
