package dev.cay.server.sandbox;

import dev.cay.server.fleet.Fleet;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What sandboxes tried to reach. The node has it in memory, and forgets it with the daemon and some time after the
/// sandbox; so it is written down from time to time, at a pause and at the end. Thread-safe.
public final class EgressLogs {
    private static final Logger log = LoggerFactory.getLogger(EgressLogs.class);

    /// As many as the node keeps.
    private static final int MOST = 1000;

    /// Entries that are kept for a team, of sandboxes that live and those that ended: some 35 MB.
    private static final int MOST_OF_TEAM = 100_000;

    /// Attempts that are alike, whenever the node began to count them.
    private record Kind(
            String protocol,
            @Nullable String name,
            @Nullable String address,
            int port,
            boolean allowed,
            String match) {
        Kind(EgressEntry entry) {
            this(entry.protocol(), entry.name(), entry.address(), entry.port(), entry.allowed(), entry.match());
        }
    }

    /// One count of the node, which starts again at zero when the daemon restarts.
    private record Count(Kind kind, Instant first) {
        Count(EgressEntry entry) {
            this(new Kind(entry), entry.firstSeen());
        }
    }

    private final Store store;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final InstantSource clock;

    /// When the last attempt was that is on record, by sandbox.
    private final Map<SandboxId, Instant> written = new ConcurrentHashMap<>();

    /// Whether something was written since the teams' logs were counted.
    private final AtomicBoolean grown = new AtomicBoolean();

    public EgressLogs(Store store, SandboxDirectory directory, Fleet fleet, InstantSource clock) {
        this.store = store;
        this.directory = directory;
        this.fleet = fleet;
        this.clock = clock;
    }

    /// All that is known of a sandbox that lives or lived, seen last first.
    EgressSeen seen(SandboxId id) {
        var all = joined(
                store.read(handle -> EgressLogStore.find(handle, id)),
                fleet.node().egressSeen(id));
        var byKind = new LinkedHashMap<Kind, EgressEntry>();
        all.entries().forEach(entry -> byKind.merge(new Kind(entry), entry, EgressLogs::sum));
        return new EgressSeen(List.copyOf(byKind.values()), all.dropped());
    }

    /// Stores the new entries. A failure is only logged, because nothing else may fail for it.
    void keep(SandboxId id) {
        try {
            var now = fleet.node().egressSeen(id);
            if (now.entries().isEmpty()) {
                return;
            }
            var last = now.entries().getFirst().lastSeen();
            if (last.equals(written.get(id)) && directory.find(id).isPresent()) {
                return;
            }
            store.write(handle ->
                    EgressLogStore.put(handle, id, joined(EgressLogStore.find(handle, id), now), clock.instant()));
            written.put(id, last);
            grown.set(true);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("cannot store the egress log of a sandbox");
        }
    }

    /// The same for all that live.
    void keepAll() {
        var living = directory.list().stream().map(SandboxRecord::id).toList();
        living.forEach(this::keep);
        written.keySet().retainAll(living);
        if (grown.compareAndSet(true, false)) {
            store.read(handle -> EgressLogStore.teamsWithMore(handle, MOST_OF_TEAM))
                    .forEach(this::trim);
        }
    }

    private void trim(String team) {
        int deleted = store.write(handle -> EgressLogStore.trim(handle, team, MOST_OF_TEAM));
        log.atInfo()
                .addKeyValue("team", team)
                .addKeyValue("logs", deleted)
                .log("deleted the oldest egress logs of a team that has too many");
    }

    /// What the node says now replaces what it said before of the same count.
    private static EgressSeen joined(EgressSeen before, EgressSeen now) {
        var counts = new LinkedHashMap<Count, EgressEntry>();
        before.entries().forEach(entry -> counts.put(new Count(entry), entry));
        now.entries().forEach(entry -> counts.put(new Count(entry), entry));
        var newestFirst = counts.values().stream()
                .sorted(Comparator.comparing(EgressEntry::lastSeen).reversed())
                .toList();
        var kept = newestFirst.subList(0, Math.min(MOST, newestFirst.size()));
        long dropped = Math.max(before.dropped(), now.dropped()) + newestFirst.size() - kept.size();
        return new EgressSeen(kept, dropped);
    }

    private static EgressEntry sum(EgressEntry newer, EgressEntry older) {
        return new EgressEntry(
                older.firstSeen().isBefore(newer.firstSeen()) ? older.firstSeen() : newer.firstSeen(),
                newer.lastSeen(),
                newer.protocol(),
                newer.name(),
                newer.address(),
                newer.port(),
                newer.allowed(),
                newer.match(),
                newer.attempts() + older.attempts(),
                newer.sent() + older.sent(),
                newer.received() + older.received());
    }
}
