package dev.cay.server.sandbox;

import dev.cay.server.store.Transaction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The transaction that moves the times of all living sandboxes after the clock was set. No other change of a record
/// runs meanwhile.
final class TimeShift implements Transaction<List<SandboxRecord>> {
    private final Duration by;

    /// One of the moved records as it was before.
    private @Nullable SandboxRecord sample;

    TimeShift(Duration by) {
        this.by = by;
    }

    Duration by() {
        return by;
    }

    @Override
    public List<SandboxRecord> run(Handle handle) {
        sample = SandboxStore.notKilled(handle).stream().findFirst().orElse(null);
        SandboxStore.move(handle, by);
        return SandboxStore.notKilled(handle);
    }

    @Override
    public Optional<List<SandboxRecord>> done(Handle handle) {
        var before = sample;
        return before == null
                ? Optional.empty()
                : SandboxStore.find(handle, before.id())
                        .filter(now -> now.version() > before.version())
                        .map(_ -> SandboxStore.notKilled(handle));
    }
}
