package dev.cay.server.sandbox;

import dev.cay.server.event.EventStore;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.Transaction;
import dev.cay.wire.SandboxId;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The transaction that changes one record and writes its event. Does nothing when the record is in none of the wanted
/// states, or when the change returns nothing.
final class RecordChange implements Transaction<Optional<SandboxRecord>> {
    /// Decides what becomes of a record, within the transaction that writes it. It may be asked more than once.
    interface Change {
        /// @return nothing when the record shall stay as it is
        Optional<Next> of(SandboxRecord old, Instant now);
    }

    /// The changed record.
    ///
    /// @param event null for a change without an event
    record Next(SandboxRecord fresh, @Nullable LifecycleEvent event) {
        /// With an event that is made from the new record.
        static Optional<Next> of(
                SandboxRecord fresh, BiFunction<SandboxRecord, Instant, LifecycleEvent> event, Instant now) {
            return Optional.of(new Next(fresh, event.apply(fresh, now)));
        }

        static Optional<Next> silent(SandboxRecord fresh) {
            return Optional.of(new Next(fresh, null));
        }
    }

    private final SandboxId id;
    private final Set<SandboxState> from;
    private final Change change;
    private final SandboxAdmission admission;
    private final Supplier<Instant> now;

    /// The same id in every run of this transaction: if the event exists, one of the runs was committed.
    private final String eventId = UUID.randomUUID().toString();

    private @Nullable Next next;

    RecordChange(
            SandboxId id, Set<SandboxState> from, Change change, SandboxAdmission admission, Supplier<Instant> now) {
        this.id = id;
        this.from = from;
        this.change = change;
        this.admission = admission;
        this.now = now;
    }

    @Override
    public Optional<SandboxRecord> run(Handle handle) {
        Instant at = now.get();
        next = null;
        var old = SandboxStore.find(handle, id).filter(record -> from.contains(record.state()));
        var wanted = old.flatMap(record -> change.of(record, at));
        if (wanted.isPresent() && countsAgain(old.get(), wanted.get().fresh())) {
            admission.begin(handle, old.get());
        }
        if (wanted.isEmpty()
                || !SandboxStore.replace(handle, old.get(), wanted.get().fresh())) {
            return Optional.empty();
        }
        next = wanted.get();
        var fresh = next.fresh();
        if (fresh.state() == SandboxState.KILLED) {
            SandboxStore.noteKilled(handle, id, at);
        }
        event().ifPresent(event -> EventStore.insert(handle, event));
        return Optional.of(fresh);
    }

    private static boolean countsAgain(SandboxRecord old, SandboxRecord fresh) {
        return old.state() == SandboxState.PAUSED && fresh.state() == SandboxState.RESUMING;
    }

    /// Whether an earlier run was committed. No other change brings the record to the same version, run and state, and
    /// the event's id belongs to this change.
    @Override
    public Optional<Optional<SandboxRecord>> done(Handle handle) {
        var wanted = next;
        if (wanted == null) {
            return Optional.empty();
        }
        var there = SandboxStore.find(handle, id);
        boolean written = wanted.event() == null
                ? there.filter(record -> isSame(record, wanted.fresh())).isPresent()
                : EventStore.exists(handle, eventId);
        return written ? Optional.of(there) : Optional.empty();
    }

    /// The event that was written.
    Optional<LifecycleEvent> event() {
        var written = next;
        return written == null
                ? Optional.empty()
                : Optional.ofNullable(written.event()).map(event -> event.withId(eventId));
    }

    private static boolean isSame(SandboxRecord one, SandboxRecord other) {
        return one.version() == other.version()
                && one.state() == other.state()
                && one.executionId().equals(other.executionId());
    }
}
