package dev.cay.server.event;

import dev.cay.metrics.Meters;
import dev.cay.server.store.Store;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// Counts events for Prometheus, where they lie: whoever asks pays for those that came since somebody asked last.
public final class EventMeter {
    private final Store store;
    private final Map<String, Long> counts = new TreeMap<>();
    private long last;

    public EventMeter(Store store) {
        this.store = store;
    }

    public void addTo(Meters meters) {
        last = store.read(EventStore::lastSequence);
        meters.tallies("cay_events_total", "Lifecycle events of sandboxes since this start", "type", this::count);
    }

    private synchronized Map<String, Long> count() {
        var more = store.read(handle -> EventStore.typesAfter(handle, last));
        last = more.last();
        more.counts().forEach((type, number) -> counts.merge(type.toLowerCase(Locale.ROOT), number, Long::sum));
        return Map.copyOf(counts);
    }
}
