package dev.cay.server.sandbox;

import dev.cay.server.event.EventStore;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings together at start what is on record and what the node has. What no record claims is ended, what is on record
/// and not there is over, what was only starting was never promised to anybody, and what was being paused or resumed is
/// in the state the node has it in.
public final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);

    private final Store store;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Expiry expiry;
    private final Agreement agreement;
    private final InstantSource clock;

    public Settlement(
            Store store,
            SandboxDirectory directory,
            Fleet fleet,
            Expiry expiry,
            Agreement agreement,
            InstantSource clock) {
        this.store = store;
        this.directory = directory;
        this.fleet = fleet;
        this.expiry = expiry;
        this.agreement = agreement;
        this.clock = clock;
    }

    public void settle() {
        var onNode = fleet.node().list().stream().collect(Collectors.toMap(NodeSandbox::id, Function.identity()));
        for (var sandbox : store.read(SandboxStore::notKilled)) {
            settle(sandbox, onNode.remove(sandbox.id()));
        }
        onNode.keySet().forEach(this::endUnclaimed);
        log.atInfo()
                .addKeyValue("states", directory.byState())
                .addKeyValue("unclaimed", onNode.size())
                .log("settled with the node");
    }

    private void settle(SandboxRecord sandbox, @Nullable NodeSandbox there) {
        switch (sandbox.state()) {
            case RUNNING, PAUSING, PAUSED, RESUMING -> {
                if (there == null) {
                    noteGone(sandbox);
                    return;
                }
                var agreed = agreement.agree(sandbox, there).orElseThrow();
                directory.add(agreed);
                expiry.schedule(agreed);
            }
            case STARTING -> {
                fleet.node().kill(sandbox.id());
                store.write(handle -> SandboxStore.delete(handle, sandbox.id()));
            }
            case KILLED -> throw new IllegalStateException("a killed sandbox was read as living");
        }
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
