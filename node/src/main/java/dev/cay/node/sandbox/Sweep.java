package dev.cay.node.sandbox;

import dev.cay.node.host.Slot;
import dev.cay.wire.SandboxId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds and removes host resources that belong to no sandbox: parts of sandboxes whose removal was interrupted.
///
/// While sandboxes come and go, only resources that were unclaimed twice in a row are removed, and each is checked
/// again just before: an id is never used twice, and a slot is held while its link is removed.
final class Sweep {
    private static final Logger log = LoggerFactory.getLogger(Sweep.class);

    private final HostParts host;
    private final SavedParts saved;
    private final Predicate<SandboxId> claimed;
    private final Supplier<List<Slot>> slots;
    private Set<SandboxId> lastIds = Set.of();
    private Set<String> lastLinks = Set.of();

    /// @param claimed whether a sandbox exists, from before its first resource until after its last one
    /// @param slots   those of all existing sandboxes
    Sweep(HostParts host, SavedParts saved, Predicate<SandboxId> claimed, Supplier<List<Slot>> slots) {
        this.host = host;
        this.saved = saved;
        this.claimed = claimed;
        this.slots = slots;
    }

    /// Sweeps once. Never throws: failed removals are tried again. Called periodically.
    void lookAgain() {
        try {
            // Resources are listed before sandboxes: a resource made in between is claimed before it exists.
            Set<SandboxId> ids = new HashSet<>(host.runtime().list());
            ids.addAll(host.pool().list());
            ids.addAll(SandboxNotes.list(host.records()));
            ids.removeIf(claimed);
            ids.stream().filter(lastIds::contains).forEach(this::remove);
            lastIds = ids;

            var links = Set.copyOf(host.network().orphans(slots.get()));
            links.stream().filter(lastLinks::contains).forEach(host.network()::removeOrphan);
            lastLinks = links;
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("cannot list leftovers on the host");
        }
    }

    private void remove(SandboxId id) {
        if (claimed.test(id)) {
            return;
        }
        log.atWarn().addKeyValue("sandbox", id).log("removing leftovers of a sandbox that no record refers to");
        try {
            HostFootprint.remove(host, saved, id);
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("cannot remove all leftovers of a sandbox; the next sweep tries again");
        }
    }
}
