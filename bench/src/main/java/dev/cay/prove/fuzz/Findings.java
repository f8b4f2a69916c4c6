package dev.cay.prove.fuzz;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Violations that were found, with their inputs. Thread-safe.
public final class Findings {
    private static final Pattern NAMES = Pattern.compile("'[^']{0,300}'|(?<=: )/\\S*|(?<![0-9])[0-9]{4,}");
    private static final int MOST_KINDS = 200;
    private static final int MOST_SEEDS = 5;

    private record Kind(String target, String what) {}

    private static final class Count {
        private final List<String> seeds = new ArrayList<>();
        private long count;
    }

    private final Map<Kind, Count> kinds = new LinkedHashMap<>();

    /// @param seed of the input, or words that say which inputs it may have been
    /// @return whether the finding is new
    public synchronized boolean add(String target, String seed, String what) {
        // Names and numbers differ from one input to the next; that does not make it something else.
        var kind = new Kind(target, NAMES.matcher(what).replaceAll("…"));
        if (kinds.size() >= MOST_KINDS && !kinds.containsKey(kind)) {
            return false;
        }
        var count = kinds.computeIfAbsent(kind, _ -> new Count());
        count.count++;
        if (count.seeds.size() < MOST_SEEDS) {
            count.seeds.add(seed);
        }
        return count.count == 1;
    }

    public synchronized boolean isEmpty() {
        return kinds.isEmpty();
    }

    public synchronized int size() {
        return kinds.size();
    }

    /// One line each, with seeds to repeat them.
    public synchronized List<String> lines() {
        return kinds.entrySet().stream()
                .map(entry -> "- `%s` %s: %d times, seeds %s"
                        .formatted(
                                entry.getKey().target(),
                                entry.getKey().what(),
                                entry.getValue().count,
                                String.join(", ", entry.getValue().seeds)))
                .toList();
    }
}
