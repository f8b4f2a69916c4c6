package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Adopts the sandboxes of an earlier daemon: running ones continue, paused ones stay paused; incomplete ones and those
/// without an owner are removed.
final class Recovery {
    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    /// Most of the time is spent waiting for guests that root inside blocks, or that get no processor time. Requests
    /// for their sandboxes wait, the daemon does not.
    private static final int AT_ONCE = 32;

    private final HostParts host;
    private final SavedParts saved;
    private final Function<Leftovers.Found, SandboxKeeper> keep;
    private final Queue<SandboxId> spares = new ConcurrentLinkedQueue<>();
    private final Semaphore arrivals = new Semaphore(AT_ONCE);

    /// @param keep makes the keeper of what has notes
    Recovery(HostParts host, SavedParts saved, Function<Leftovers.Found, SandboxKeeper> keep) {
        this.host = host;
        this.saved = saved;
        this.keep = keep;
    }

    /// @return spare sandboxes, to be replaced: they were made by a daemon that may have been another version
    List<SandboxId> all() {
        var found = new Leftovers(host).look();
        ForEachSandbox.each(found.keySet(), AT_ONCE, id -> one(Objects.requireNonNull(found.get(id))));
        return List.copyOf(spares);
    }

    private void one(Leftovers.Found found) {
        if (found.notes() == null || (found.slot() == null && !isSaved(found) && !found.isFrozen())) {
            HostFootprint.remove(host, saved, found.id());
            return;
        }
        var keeper = keep.apply(found);
        if (found.notes().isSide()) {
            keeper.end();
        } else if (found.isFrozen()) {
            frozen(keeper, found);
        } else if (isSaved(found)) {
            saved(keeper, found);
        } else if (found.notes().spare()) {
            spares.add(found.id());
        } else if (!Leftovers.canGoOn(found) || !adopted(keeper)) {
            keeper.end();
        }
    }

    /// Whether there is a snapshot that holds it. It may be that the machine went down between the snapshot and
    /// the note of it.
    private boolean isSaved(Leftovers.Found found) {
        var notes = found.notes();
        return found.isSaved()
                || (notes != null
                        && notes.phaseNow() == SandboxNotes.Phase.SAVING
                        && found.container() == null
                        && saved.store().isWhole(notes.snapshot()));
    }

    /// Adopts a paused sandbox. A crash may have come between its resume and the note of it. Whatever fails, the
    /// snapshot stays.
    private void saved(SandboxKeeper keeper, Leftovers.Found found) {
        if (found.phase() == SandboxNotes.Phase.RESUMING) {
            host.runtime().settle(found.id());
            var container = host.runtime().find(found.id()).orElse(null);
            if (Leftovers.canGoOn(found.with(container)) && adopted(keeper)) {
                return;
            }
        }
        keeper.saving().adopt();
    }

    /// Adopts a paused sandbox that is not saved yet. Its container is the sandbox; without it the files are left.
    private void frozen(SandboxKeeper keeper, Leftovers.Found found) {
        boolean there = Leftovers.canGoOn(found);
        if (there) {
            host.network()
                    .attach(
                            found.id(),
                            Objects.requireNonNull(found.slot()),
                            Objects.requireNonNull(found.notes()).spec().egress());
        }
        keeper.saving().adoptFrozen(there);
    }

    private boolean adopted(SandboxKeeper keeper) {
        try {
            keeper.adopt(arrivals);
            return true;
        } catch (CayException e) {
            log.atError().setCause(e).addKeyValue("sandbox", keeper.id()).log("a sandbox could not be adopted");
            return false;
        }
    }
}
