package dev.cay.node.egress;

import dev.cay.node.network.SandboxOwners;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// The egress logs of all sandboxes that live or ended lately. What a side sandbox tries is in the log of its owner.
/// Thread-safe.
final class KnownLogs {
    /// Logs of sandboxes that are not on the path.
    private static final int KEPT = 4096;

    private final InstantSource clock;
    private final LogRoom room = new LogRoom();

    /// Receivers of refusals, by sandbox.
    private final Map<SandboxId, Consumer<EgressEntry>> refusals = new ConcurrentHashMap<>();

    // Guarded by this: the logs, those that were used last behind the others, and how often each is held.
    private final Map<SandboxId, EgressLog> logs = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<SandboxId, Integer> held = new HashMap<>();

    private volatile SandboxOwners owners = SandboxOwners.NONE;

    KnownLogs(InstantSource clock) {
        this.clock = clock;
    }

    void ownedBy(SandboxOwners known) {
        owners = known;
    }

    /// Reports the first refusal of each kind for a sandbox, until the returned object is closed.
    AutoCloseable onRefusal(SandboxId id, Consumer<EgressEntry> listener) {
        refusals.put(id, listener);
        return () -> refusals.remove(id, listener);
    }

    /// The log for what a sandbox tries.
    EgressLog of(SandboxId id) {
        return ofOwner(owners.owner(id));
    }

    /// The log of a sandbox that is on the path; kept until it is given back.
    Held hold(SandboxId id) {
        var owner = owners.owner(id);
        synchronized (this) {
            held.merge(owner, 1, Integer::sum);
            return new Held(owner, ofOwner(owner));
        }
    }

    /// A log that is in use.
    record Held(SandboxId owner, EgressLog log) {}

    synchronized void giveBack(Held log) {
        held.computeIfPresent(log.owner(), (_, count) -> count == 1 ? null : count - 1);
    }

    private synchronized EgressLog ofOwner(SandboxId owner) {
        var log = logs.computeIfAbsent(owner, this::empty);
        forgetSome();
        return log;
    }

    private EgressLog empty(SandboxId id) {
        var empty = new EgressLog(clock, room, id.value(), () -> owners.team(id));
        empty.onRefusal(entry -> refusals.getOrDefault(id, _ -> {}).accept(entry));
        return empty;
    }

    /// Forgets the log that was used first of the team that has the most.
    private void forgetSome() {
        if (logs.size() - held.size() <= KEPT) {
            return;
        }
        var counts = new HashMap<String, Integer>();
        logs.forEach((id, log) -> counts.merge(log.team(), held.containsKey(id) ? 0 : 1, Integer::sum));
        String team =
                Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
        logs.entrySet().stream()
                .filter(log ->
                        !held.containsKey(log.getKey()) && log.getValue().team().equals(team))
                .findFirst()
                .map(Map.Entry::getKey)
                .map(logs::remove)
                .ifPresent(room::forget);
    }

    /// The destinations that the sandbox tried to reach, as far as they are remembered.
    synchronized EgressSeen seen(SandboxId id) {
        var log = logs.get(id);
        return log == null ? EgressSeen.NOTHING : log.seen();
    }
}
