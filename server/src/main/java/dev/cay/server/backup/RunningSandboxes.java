package dev.cay.server.backup;

import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxState;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes snapshots of all running sandboxes, for a backup that includes them.
public final class RunningSandboxes {
    private static final Logger log = LoggerFactory.getLogger(RunningSandboxes.class);
    private static final int BITS = 80;

    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final SecureRandom random;

    public RunningSandboxes(SandboxDirectory directory, Fleet fleet, SecureRandom random) {
        this.directory = directory;
        this.fleet = fleet;
        this.random = random;
    }

    /// Snapshots that only the backup knows; deleted when this is closed.
    final class Saves implements AutoCloseable {
        private final Map<SandboxId, String> snapshots = new HashMap<>();

        Map<SandboxId, String> snapshots() {
            return Map.copyOf(snapshots);
        }

        /// Saves one sandbox after the other, so that at most one is frozen at a time. A sandbox that ended or was
        /// paused meanwhile needs no snapshot.
        private void save(SandboxId id) {
            String name = "backup" + new BigInteger(BITS, random).toString(Character.MAX_RADIX);
            try {
                fleet.node().snapshot(id, name, Keep.MEMORY_IF_POSSIBLE);
                snapshots.put(id, name);
            } catch (CayException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", id)
                        .log("a running sandbox could not be saved and is not in the backup");
            }
        }

        @Override
        public void close() {
            snapshots.values().forEach(name -> {
                try {
                    fleet.node().deleteSnapshot(name);
                } catch (CayException e) {
                    log.atWarn().setCause(e).addKeyValue("snapshot", name).log("a snapshot stays until the next start");
                }
            });
        }
    }

    Saves none() {
        return new Saves();
    }

    Saves save() {
        var saves = new Saves();
        try {
            directory.list().stream()
                    .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                    .forEach(sandbox -> saves.save(sandbox.id()));
            return saves;
        } catch (RuntimeException e) {
            saves.close();
            throw e;
        }
    }
}
