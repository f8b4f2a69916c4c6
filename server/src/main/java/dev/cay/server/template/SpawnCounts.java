package dev.cay.server.template;

import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The number of sandboxes started from each template since the last write.
///
/// The counts are written periodically, because otherwise all creates would wait for the one row of a popular template.
/// A crash loses the last few seconds of them.
final class SpawnCounts {
    private record Count(TemplateId template, long more, Instant last) {
        Count plus(Count other) {
            return new Count(template, more + other.more, other.last.isAfter(last) ? other.last : last);
        }
    }

    private final Store store;
    private final Map<TemplateId, Count> waiting = new HashMap<>();

    SpawnCounts(Store store) {
        this.store = store;
    }

    void count(TemplateId template, Instant at) {
        add(new Count(template, 1, at));
    }

    /// Writes the counts. A failed write is repeated with the next one.
    void write() {
        List<Count> counts;
        synchronized (waiting) {
            counts = waiting.values().stream()
                    .sorted(Comparator.comparing(count -> count.template().value()))
                    .toList();
            waiting.clear();
        }
        if (counts.isEmpty()) {
            return;
        }
        try {
            store.write(new Addition(counts));
        } catch (RuntimeException e) {
            counts.forEach(this::add);
            throw e;
        }
    }

    private void add(Count count) {
        synchronized (waiting) {
            waiting.merge(count.template(), count, Count::plus);
        }
    }

    private static final class Addition implements Transaction<Integer> {
        private final List<Count> counts;
        private long before;

        Addition(List<Count> counts) {
            this.counts = counts;
        }

        @Override
        public Integer run(Handle handle) {
            before = TemplateStore.spawns(handle, counts.getFirst().template());
            counts.forEach(count -> TemplateStore.addSpawns(handle, count.template(), count.more(), count.last()));
            return counts.size();
        }

        @Override
        public Optional<Integer> done(Handle handle) {
            var first = counts.getFirst();
            return TemplateStore.spawns(handle, first.template()) >= before + first.more()
                    ? Optional.of(counts.size())
                    : Optional.empty();
        }
    }
}
