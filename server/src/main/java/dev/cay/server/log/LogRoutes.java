package dev.cay.server.log;

import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.rest.SandboxLogEntry;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Logs of a sandbox in both versions of the contract: the first one reads forward from a time, the second one either
/// way from a cursor, newest first unless asked otherwise.
public final class LogRoutes {
    private static final int MOST = 1000;
    private static final int MOST_SEARCH = 256;

    private final Access access;
    private final Sandboxes sandboxes;
    private final SandboxLogs logs;

    public LogRoutes(Access access, Sandboxes sandboxes, SandboxLogs logs) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.logs = logs;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes/{sandboxID}/logs", access.guard(this::first));
        routes.on("GET", "/v2/sandboxes/{sandboxID}/logs", access.guard(this::second));
    }

    private void first(Team team, Exchange exchange) {
        var id = known(team, exchange);
        Instant start = milliseconds(exchange, "start");
        int limit = ListPage.number(exchange, "limit", 0, Integer.MAX_VALUE, MOST);
        var lines = logs.of(team.id(), id).stream()
                .filter(line -> start == null || !line.at().isBefore(start))
                .limit(Math.min(limit, MOST))
                .toList();
        exchange.sendJson(
                200,
                Map.of(
                        "logs",
                        lines.stream().map(line -> text(line, team, id)).toList(),
                        "logEntries",
                        lines.stream().map(LogRoutes::entry).toList()));
    }

    private void second(Team team, Exchange exchange) {
        var id = known(team, exchange);
        boolean forward = forward(exchange.query("direction"));
        Instant cursor = milliseconds(exchange, "cursor");
        int limit = ListPage.number(exchange, "limit", 0, MOST, MOST);
        var found = logs.of(team.id(), id);
        Stream<LogLine> lines = (forward ? found : found.reversed()).stream();
        if (cursor != null) {
            lines = lines.filter(
                    line -> forward ? !line.at().isBefore(cursor) : !line.at().isAfter(cursor));
        }
        var page = lines.filter(atLeast(exchange.query("level")))
                .filter(matching(exchange.query("search")))
                .limit(limit)
                .map(LogRoutes::entry)
                .toList();
        exchange.sendJson(200, Map.of("logs", page));
    }

    /// The sandbox of the request, also one that has ended: its log is read most after the end.
    private SandboxId known(Team team, Exchange exchange) {
        return sandboxes
                .requireKnown(team, SandboxId.parse(exchange.parameter("sandboxID")))
                .id();
    }

    private static SandboxLogEntry entry(LogLine line) {
        var fields = new TreeMap<>(line.fields());
        fields.put("logger", line.logger());
        return new SandboxLogEntry(line.at(), line.message(), word(line.level()), fields);
    }

    /// A line in the form of E2B's command line, which parses the text, needs `level` and `logger` in it, and shows the
    /// rest.
    private static Map<String, Object> text(LogLine line, Team team, SandboxId id) {
        var json = new LinkedHashMap<String, Object>(new TreeMap<>(line.fields()));
        json.put("level", word(line.level()));
        json.put("logger", line.logger());
        json.put("message", line.message());
        json.put("service", line.logger().equals("sandbox") ? "cay" : "envd");
        json.put("sandboxID", id.value());
        json.put("teamID", team.id());
        return Map.of("timestamp", line.at(), "line", new String(Json.write(json), StandardCharsets.UTF_8));
    }

    private static Predicate<LogLine> atLeast(@Nullable String level) {
        if (level == null || level.isEmpty()) {
            return _ -> true;
        }
        var least = Arrays.stream(LogLine.Level.values())
                .filter(known -> word(known).equals(level))
                .findFirst()
                .orElseThrow(() -> invalid("'level' must be one of debug, info, warn, error"));
        return line -> line.level().compareTo(least) >= 0;
    }

    private static Predicate<LogLine> matching(@Nullable String search) {
        if (search == null || search.isEmpty()) {
            return _ -> true;
        }
        if (search.length() > MOST_SEARCH) {
            throw invalid("'search' must not have more than %d characters".formatted(MOST_SEARCH));
        }
        return line -> line.message().contains(search)
                || line.fields().values().stream().anyMatch(value -> value.contains(search));
    }

    private static boolean forward(@Nullable String direction) {
        if (direction == null || direction.isEmpty() || direction.equals("backward")) {
            return false;
        }
        if (direction.equals("forward")) {
            return true;
        }
        throw invalid("'direction' must be forward or backward");
    }

    private static @Nullable Instant milliseconds(Exchange exchange, String name) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return null;
        }
        try {
            return Instant.ofEpochMilli(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw invalid("'%s' must be a time in milliseconds since 1970".formatted(name));
        }
    }

    private static String word(LogLine.Level level) {
        return level.name().toLowerCase(Locale.ROOT);
    }

    private static CayException invalid(String message) {
        return RequestBody.invalid(message);
    }
}
