package dev.cay.server.sandbox;

import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Saved;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Brings a record to the state its sandbox has on the node, where it is not known whether a change was made: after a
/// crash, and when a call failed. The event of a change is written with it, so it is written once.
public final class Agreement {
    private final SandboxRecords records;

    public Agreement(SandboxRecords records) {
        this.records = records;
    }

    /// Sets the record to the node's state; empty when the record was changed meanwhile.
    Optional<SandboxRecord> agree(SandboxRecord sandbox, NodeSandbox there) {
        var saved = there.saved();
        if (is(sandbox, saved)) {
            return Optional.of(sandbox);
        }
        return records.correct(
                sandbox.id(),
                Set.of(sandbox.state()),
                (old, now) -> Optional.of(saved == null ? running(old, now) : paused(old, saved, now)));
    }

    private static boolean is(SandboxRecord sandbox, @Nullable Saved saved) {
        return saved == null
                ? sandbox.state() == SandboxState.RUNNING
                : sandbox.state() == SandboxState.PAUSED && saved.equals(sandbox.saved());
    }

    /// The record of a running sandbox. If it was never paused, its times stay. If it was, the timeout of its resume
    /// is not known any more, so it gets the default.
    private static Next running(SandboxRecord old, Instant now) {
        if (old.saved() == null) {
            return new Next(old.in(SandboxState.RUNNING), null);
        }
        var fresh = old.resumed(
                UUID.randomUUID().toString(), now, now.plus(old.lifecycle().resumeTimeout()));
        return new Next(fresh, SandboxEvents.resumed(fresh, now));
    }

    private static Next paused(SandboxRecord old, Saved saved, Instant now) {
        if (old.saved() != null) {
            var same = old.paused(saved, old.endAt());
            boolean changed = old.state() == SandboxState.PAUSED && !saved.equals(old.saved());
            return new Next(same, changed ? SandboxEvents.durabilityChanged(same, now) : null);
        }
        var fresh = old.paused(saved, now);
        return new Next(fresh, SandboxEvents.paused(fresh, saved, now));
    }
}
