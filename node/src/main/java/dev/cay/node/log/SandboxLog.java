package dev.cay.node.log;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.node.Node;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The log of one sandbox. Never blocks. Thread-safe.
///
/// Removes values of variables, because commands often contain one. Lines per second are limited, because each of them
/// costs the platform something.
public final class SandboxLog {
    private static final int MOST_A_SECOND = 100;
    private static final int MOST_CHARACTERS = 2000;
    /// Shorter values are not removed, because they are common words: `true`, `8080`, `prod`.
    private static final int SHORTEST_SECRET = 8;
    /// With more values, searching for each costs too much, and no line is logged.
    private static final int MOST_SECRETS = 500;

    private static final String STRUCK_OUT = "[value of a variable]";

    private final SandboxId id;
    private final InstantSource clock;
    private final Node.LogListener listener;
    private volatile List<String> secrets = List.of();
    private long second;
    private int told;
    private long untold;

    SandboxLog(SandboxId id, InstantSource clock, Node.LogListener listener) {
        this.id = id;
        this.clock = clock;
        this.listener = listener;
    }

    /// Replaces the set of values that are removed from lines.
    public void hide(Collection<String> values) {
        secrets = longestFirst(values);
    }

    /// @param message text of Cay's own; texts of users belong into the fields
    public void info(String logger, String message, Map<String, String> fields) {
        say(LogLine.Level.INFO, logger, message, fields, List.of());
    }

    /// @param secrets further values that must not be logged, for this line alone
    public void info(String logger, String message, Map<String, String> fields, Collection<String> secrets) {
        say(LogLine.Level.INFO, logger, message, fields, longestFirst(secrets));
    }

    public void warn(String logger, String message, Map<String, String> fields) {
        say(LogLine.Level.WARN, logger, message, fields, List.of());
    }

    private void say(
            LogLine.Level level, String logger, String message, Map<String, String> fields, List<String> more) {
        Instant now = clock.instant();
        long before = allow(now.getEpochSecond());
        if (before < 0) {
            return;
        }
        if (before > 0) {
            String text = "%d lines were left out: more than %d in a second".formatted(before, MOST_A_SECOND);
            listener.logged(id, new LogLine(now, LogLine.Level.WARN, "sandbox", text, Map.of()));
        }
        var clean = new LinkedHashMap<String, String>();
        fields.forEach((name, value) -> clean.put(name, clean(value, more)));
        listener.logged(id, new LogLine(now, level, logger, message, clean));
    }

    /// @return how many were left out just before, or -1 if this one is too
    private synchronized long allow(long now) {
        if (now != second) {
            second = now;
            told = 0;
        }
        if (++told > MOST_A_SECOND) {
            untold++;
            return -1;
        }
        long before = untold;
        untold = 0;
        return before;
    }

    /// Cuts and cleans a text. It may be megabytes long, from a sandbox that wants to keep the node busy. After the
    /// cut, only a value that begins before it matters.
    private String clean(String text, List<String> more) {
        if (secrets.size() > MOST_SECRETS || more.size() > MOST_SECRETS) {
            return STRUCK_OUT;
        }
        int reach = MOST_CHARACTERS + 1 + Math.max(longest(secrets), longest(more));
        String cleaned = text.length() <= reach ? text : text.substring(0, reach);
        for (var list : List.of(secrets, more)) {
            for (String secret : list) {
                cleaned = cleaned.replace(secret, STRUCK_OUT);
            }
        }
        return cleaned.length() <= MOST_CHARACTERS ? cleaned : cleaned.substring(0, MOST_CHARACTERS) + "…";
    }

    private static int longest(List<String> longestFirst) {
        return longestFirst.isEmpty() ? 0 : longestFirst.getFirst().length();
    }

    /// A value that is part of another one must not leave the rest of it standing.
    private static List<String> longestFirst(Collection<String> values) {
        return values.stream()
                .filter(value -> value.length() >= SHORTEST_SECRET)
                .distinct()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }
}
