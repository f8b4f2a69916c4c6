package dev.cay.server.event;

import dev.cay.metrics.Meters;
import dev.cay.wire.TeamId;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/// Counts the events that this process wrote: by type for Prometheus, and how many sandboxes came to life in each team.
/// It also tells one listener that there is a new one.
public final class EventCounts {
    private final Map<String, Long> types = new TreeMap<>();
    private final Map<TeamId, Long> starts = new HashMap<>();

    private volatile Consumer<LifecycleEvent> listener = _ -> {};

    /// @param action is called after each event that was written, and must not block
    public void onEvent(Consumer<LifecycleEvent> action) {
        listener = action;
    }

    public void addTo(Meters meters) {
        meters.tallies("cay_events_total", "Lifecycle events of sandboxes since this start", "type", this::types);
    }

    /// Counts an event. Call this after the transaction that wrote it.
    public void count(LifecycleEvent event) {
        add(event);
        listener.accept(event);
    }

    private synchronized void add(LifecycleEvent event) {
        types.merge(event.type().name().toLowerCase(Locale.ROOT), 1L, Long::sum);
        if (event.type() == LifecycleEvent.Type.CREATED || event.type() == LifecycleEvent.Type.RESUMED) {
            starts.merge(event.teamId(), 1L, Long::sum);
        }
    }

    /// The number of sandboxes created, resumed or forked since this start, by team.
    public synchronized Map<TeamId, Long> starts() {
        return Map.copyOf(starts);
    }

    private synchronized Map<String, Long> types() {
        return Map.copyOf(types);
    }
}
