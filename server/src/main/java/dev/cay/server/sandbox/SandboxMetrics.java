package dev.cay.server.sandbox;

import dev.cay.server.fleet.Fleet;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.ResourceUse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What sandboxes used lately, in memory: half an hour at one reading every five seconds.
public final class SandboxMetrics {
    private static final Logger log = LoggerFactory.getLogger(SandboxMetrics.class);
    private static final int KEPT = 360;

    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Map<SandboxId, Deque<ResourceUse>> readings = new ConcurrentHashMap<>();

    public SandboxMetrics(SandboxDirectory directory, Fleet fleet) {
        this.directory = directory;
        this.fleet = fleet;
    }

    /// Oldest first.
    List<ResourceUse> of(SandboxId id) {
        var kept = readings.get(id);
        if (kept == null) {
            return List.of();
        }
        synchronized (kept) {
            return List.copyOf(kept);
        }
    }

    /// Takes one reading of each that runs, and forgets those that do not live any more.
    void sample() {
        readings.keySet().removeIf(id -> directory.find(id).isEmpty());
        for (var sandbox : directory.list()) {
            if (sandbox.state() == SandboxState.RUNNING) {
                sample(sandbox.id());
            }
        }
    }

    private void sample(SandboxId id) {
        ResourceUse reading;
        try {
            reading = fleet.node().measure(id);
        } catch (RuntimeException e) {
            // It may have ended just now; if not, the next reading is seconds away.
            log.atDebug().setCause(e).addKeyValue("sandbox", id).log("no reading");
            return;
        }
        var kept = readings.computeIfAbsent(id, key -> new ArrayDeque<>());
        synchronized (kept) {
            if (kept.size() == KEPT) {
                kept.removeFirst();
            }
            kept.addLast(reading);
        }
    }
}
