package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Prints the log of a sandbox.
final class SandboxLogPrinter {
    /// Lines of one answer.
    static final int MOST = 1000;

    private static final Duration POLL = Duration.ofMillis(500);

    private final Api api;
    private final String sandbox;
    private final Map<String, String> filter = new TreeMap<>();
    private final boolean json;

    /// The start of the next page, and the lines of that millisecond that were printed.
    private Instant cursor = Instant.EPOCH;

    private final Set<String> printed = new HashSet<>();

    SandboxLogPrinter(Api api, String sandbox, @Nullable String level, @Nullable String search, boolean json) {
        this.api = api;
        this.sandbox = sandbox;
        this.json = json;
        if (level != null) {
            filter.put("level", level.toLowerCase(Locale.ROOT));
        }
        if (search != null) {
            filter.put("search", search);
        }
    }

    /// @param from null for the last lines alone
    int show(@Nullable Instant from, int lines) {
        if (from == null) {
            last(lines).forEach(this::print);
            return 0;
        }
        cursor = from;
        boolean more = true;
        while (more) {
            more = next();
        }
        return 0;
    }

    /// Prints until the sandbox has ended.
    int follow(@Nullable Instant from, int lines) throws InterruptedException {
        if (from != null) {
            cursor = from;
        } else if (lines == 0) {
            cursor = Instant.now();
        } else {
            last(lines).forEach(this::printNew);
        }
        while (true) {
            // Checked first, so that the last lines are printed.
            boolean alive = isAlive();
            boolean more = next();
            if (!alive && !more) {
                System.err.println("sandbox %s has ended".formatted(sandbox));
                return 0;
            }
            if (!more) {
                Thread.sleep(POLL);
            }
        }
    }

    private boolean isAlive() {
        try {
            api.call("GET", "/sandboxes/" + Api.encoded(sandbox), null);
            return true;
        } catch (CayException e) {
            if (e.kind() == ErrorKind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private List<JsonNode> last(int lines) {
        var newest = new ArrayList<JsonNode>();
        page(Map.of("direction", "backward", "limit", Integer.toString(lines))).forEach(newest::add);
        return newest.reversed();
    }

    /// Prints a page of what follows.
    ///
    /// @return whether there may be more
    private boolean next() {
        var query = Map.of("direction", "forward", "cursor", Long.toString(cursor.toEpochMilli()));
        var before = cursor;
        var lines = page(query);
        lines.forEach(this::printNew);
        if (lines.size() < MOST) {
            return false;
        }
        if (cursor.equals(before)) {
            // More lines in one millisecond than a page has: the rest cannot be requested.
            cursor = cursor.plusMillis(1);
        }
        return true;
    }

    private JsonNode page(Map<String, String> more) {
        var query = new TreeMap<>(filter);
        query.putAll(more);
        var text = new StringBuilder();
        query.forEach((name, value) ->
                text.append(text.isEmpty() ? '?' : '&').append(name).append('=').append(Api.encoded(value)));
        return api.call("GET", "/v2/sandboxes/%s/logs%s".formatted(Api.encoded(sandbox), text), null)
                .path("logs");
    }

    private void printNew(JsonNode line) {
        var at = Instant.ofEpochMilli(
                Instant.parse(line.path("timestamp").asString("")).toEpochMilli());
        if (at.isAfter(cursor)) {
            cursor = at;
            printed.clear();
        }
        if (printed.add(line.toString())) {
            print(line);
        }
    }

    private void print(JsonNode line) {
        if (json) {
            System.out.println(line);
            return;
        }
        var fields = new StringBuilder();
        line.path("fields")
                .properties()
                .forEach(field -> fields.append(' ')
                        .append(field.getKey())
                        .append('=')
                        .append(clean(field.getValue().asString(""))));
        System.out.println("%s %-5s %s%s"
                .formatted(
                        line.path("timestamp").asString(""),
                        line.path("level").asString("").toUpperCase(Locale.ROOT),
                        clean(line.path("message").asString("")),
                        fields));
    }

    /// Code in a sandbox chooses commands and names of files, and must not speak to the user's terminal.
    private static String clean(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
    }
}
