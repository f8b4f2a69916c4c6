package dev.cay.server.sandbox;

import dev.cay.server.fleet.Fleet;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Compares records and node at start. A sandbox of the node without a record is ended. A record without a sandbox
/// becomes KILLED. A record in state STARTING is deleted, because no client knows it. A record in PAUSING or RESUMING
/// gets the node's state.
public final class Settlement {
    private static final Logger log = LoggerFactory.getLogger(Settlement.class);

    private final SandboxRecords records;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Agreement agreement;

    public Settlement(SandboxRecords records, SandboxDirectory directory, Fleet fleet, Agreement agreement) {
        this.records = records;
        this.directory = directory;
        this.fleet = fleet;
        this.agreement = agreement;
    }

    public void settle() {
        var onNode = fleet.node().list().stream().collect(Collectors.toMap(NodeSandbox::id, Function.identity()));
        for (var sandbox : records.notKilled()) {
            settle(sandbox, onNode.remove(sandbox.id()));
        }
        onNode.keySet().forEach(this::endUnclaimed);
        log.atInfo()
                .addKeyValue("states", directory.byState())
                .addKeyValue("unclaimed", onNode.size())
                .log("compared the records with the node");
    }

    private void settle(SandboxRecord sandbox, @Nullable NodeSandbox there) {
        switch (sandbox.state()) {
            case RUNNING, PAUSING, PAUSED, RESUMING -> {
                if (there == null) {
                    noteGone(sandbox);
                    return;
                }
                records.load(agreement.agree(sandbox, there).orElseThrow());
            }
            case STARTING -> {
                fleet.node().kill(sandbox.id());
                records.forget(sandbox.id());
            }
            case KILLED -> throw new IllegalStateException("a killed sandbox was read as living");
        }
    }

    private void noteGone(SandboxRecord sandbox) {
        records.kill(sandbox.id(), KillReason.ORPHANED, _ -> true);
        log.atWarn()
                .addKeyValue("sandbox", sandbox.id())
                .log("a recorded sandbox is not on the node; its record is set to killed");
    }

    private void endUnclaimed(SandboxId id) {
        log.atWarn().addKeyValue("sandbox", id).log("ending a sandbox that has no record");
        fleet.node().kill(id);
    }
}
