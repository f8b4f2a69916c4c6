package dev.cay.server.sandbox;

import dev.cay.server.event.EventStore;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings together at start what is on record and what runs. What no record claims is ended, what is on record and does
/// not run is over, what was only starting was never promised to anybody.
public final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);

    private final Store store;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Expiry expiry;
    private final InstantSource clock;

    public Settlement(Store store, SandboxDirectory directory, Fleet fleet, Expiry expiry, InstantSource clock) {
        this.store = store;
        this.directory = directory;
        this.fleet = fleet;
        this.expiry = expiry;
        this.clock = clock;
    }

    public void settle() {
        Set<SandboxId> onNode =
                fleet.node().list().stream().map(NodeSandbox::id).collect(Collectors.toCollection(HashSet::new));
        List<SandboxRecord> recorded = store.read(SandboxStore::notKilled);
        for (var sandbox : recorded) {
            switch (sandbox.state()) {
                case RUNNING -> {
                    if (onNode.remove(sandbox.id())) {
                        directory.add(sandbox);
                        expiry.schedule(sandbox.id(), sandbox.endAt());
                    } else {
                        noteGone(sandbox);
                    }
                }
                case STARTING -> {
                    onNode.remove(sandbox.id());
                    fleet.node().kill(sandbox.id());
                    store.write(handle -> SandboxStore.delete(handle, sandbox.id()));
                }
                case PAUSING, PAUSED, RESUMING -> {
                    onNode.remove(sandbox.id());
                    directory.add(sandbox);
                }
                case KILLED -> throw new IllegalStateException("a killed sandbox was read as living");
            }
        }
        onNode.forEach(this::endUnclaimed);
        log.atInfo()
                .addKeyValue("running", directory.running())
                .addKeyValue("unclaimed", onNode.size())
                .log("settled with the node");
    }

    private void noteGone(SandboxRecord sandbox) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        store.write(handle -> {
            var gone =
                    SandboxStore.change(handle, sandbox.id(), SandboxState.ALIVE, old -> old.in(SandboxState.KILLED));
            gone.ifPresent(record -> {
                SandboxStore.noteKilled(handle, record.id(), now);
                EventStore.insert(handle, SandboxEvents.killed(record, KillReason.ORPHANED, now));
            });
            return gone;
        });
        log.atWarn().addKeyValue("sandbox", sandbox.id()).log("a sandbox was gone");
    }

    private void endUnclaimed(SandboxId id) {
        log.atWarn().addKeyValue("sandbox", id).log("ending a sandbox that no record claims");
        fleet.node().kill(id);
    }
}
