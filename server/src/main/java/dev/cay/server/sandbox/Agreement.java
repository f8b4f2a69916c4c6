package dev.cay.server.sandbox;

import dev.cay.server.event.EventStore;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.Store;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Saved;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Brings a record to the state its sandbox has on the node, where it is not known whether a change was made: after a
/// crash, and when a call failed. The event of a change is written with it, so it is written once.
public final class Agreement {
    private final Store store;
    private final InstantSource clock;

    /// What becomes of a record.
    private record Change(SandboxRecord fresh, @Nullable LifecycleEvent event) {}

    public Agreement(Store store, InstantSource clock) {
        this.store = store;
        this.clock = clock;
    }

    /// Empty when somebody else changed the record meanwhile.
    Optional<SandboxRecord> agree(SandboxRecord sandbox, NodeSandbox there) {
        if (is(sandbox, there.saved())) {
            return Optional.of(sandbox);
        }
        return store.write(handle -> {
            var old = SandboxStore.find(handle, sandbox.id()).filter(found -> found.state() == sandbox.state());
            if (old.isEmpty()) {
                return Optional.empty();
            }
            Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
            var saved = there.saved();
            var change = saved == null ? running(old.get(), now) : paused(old.get(), saved, now);
            var event = change.event();
            if (event != null) {
                EventStore.insert(handle, event);
            }
            return SandboxStore.change(handle, sandbox.id(), Set.of(sandbox.state()), _ -> change.fresh());
        });
    }

    private static boolean is(SandboxRecord sandbox, @Nullable Saved saved) {
        return saved == null
                ? sandbox.state() == SandboxState.RUNNING
                : sandbox.state() == SandboxState.PAUSED && saved.equals(sandbox.saved());
    }

    /// One that was never paused just goes on. Of one that was, nobody knows any more for how long it was resumed.
    private static Change running(SandboxRecord old, Instant now) {
        if (old.saved() == null) {
            return new Change(old.in(SandboxState.RUNNING), null);
        }
        var fresh = old.resumed(
                UUID.randomUUID().toString(), now, now.plus(old.lifecycle().resumeTimeout()));
        return new Change(fresh, SandboxEvents.resumed(fresh, now));
    }

    private static Change paused(SandboxRecord old, Saved saved, Instant now) {
        if (old.saved() != null) {
            return new Change(old.paused(saved, old.endAt()), null);
        }
        var fresh = old.paused(saved, now);
        return new Change(fresh, SandboxEvents.paused(fresh, saved, now));
    }
}
