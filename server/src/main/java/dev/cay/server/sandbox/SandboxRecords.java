package dev.cay.server.sandbox;

import dev.cay.life.SteadyClock;
import dev.cay.server.access.Teams;
import dev.cay.server.event.EventCounts;
import dev.cay.server.event.EventStore;
import dev.cay.server.quota.Quotas;
import dev.cay.server.sandbox.RecordChange.Change;
import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import dev.cay.server.volume.Volumes;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The one place where the record of a sandbox changes.
///
/// A change goes to the database together with its event, then to the directory, then to {@link Expiry}. A crash
/// between two of these is repaired by {@link Settlement} at the next start. What the node does about it is the
/// caller's.
public final class SandboxRecords {
    private final Store store;
    private final SandboxDirectory directory;
    private final Expiry expiry;
    private final SteadyClock clock;
    private final EventCounts events;
    private final SandboxAdmission admission;

    /// Held for writing while the clock is set, so that no change reads one time and is written at another, and while
    /// all records must stay unchanged.
    private final ReadWriteLock time = new ReentrantReadWriteLock();

    /// A shift that may have been written although it failed. Guarded by {@link #time}.
    private @Nullable TimeShift uncertain;

    public SandboxRecords(
            Store store,
            SandboxDirectory directory,
            Expiry expiry,
            SteadyClock clock,
            EventCounts events,
            Quotas quotas) {
        this.store = store;
        this.directory = directory;
        this.expiry = expiry;
        this.clock = clock;
        this.events = events;
        this.admission = new SandboxAdmission(quotas);
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /// Writes a record in state STARTING; the directory gets it only when it runs. Refused if its team, or its key, is
    /// at its limit.
    void begin(SandboxRecord starting, SandboxStore.@Nullable Request request) {
        store.write(new Transaction<SandboxRecord>() {
            @Override
            public SandboxRecord run(Handle handle) {
                Teams.requireThere(handle, starting.teamId());
                admission.begin(handle, starting);
                Volumes.requireReady(handle, starting.teamId(), starting.volumes());
                SandboxStore.insert(handle, starting, request);
                return starting;
            }

            @Override
            public Optional<SandboxRecord> done(Handle handle) {
                return SandboxStore.find(handle, starting.id())
                        .filter(there -> there.executionId().equals(starting.executionId()));
            }
        });
    }

    /// Records that a running sandbox was saved.
    ///
    /// @param write writes the snapshot's record in the same transaction
    public <T> T noteSaved(SandboxRecord sandbox, Function<Consumer<Handle>, T> write) {
        var event = SandboxEvents.checkpointed(sandbox, now());
        T result = write.apply(handle -> EventStore.insert(handle, event));
        events.count(event);
        return result;
    }

    /// Removes what no client was ever told of.
    void forget(SandboxId id) {
        store.write(handle -> SandboxStore.delete(handle, id));
    }

    /// Changes the record of a sandbox that is in one of these states.
    ///
    /// @return nothing when it is not, or when the change does not want to be made
    Optional<SandboxRecord> change(SandboxId id, Set<SandboxState> from, Change change) {
        var fresh = write(id, from, change);
        fresh.ifPresent(record -> {
            publish(record);
            expiry.schedule(record);
        });
        return fresh;
    }

    /// Changes a record after something failed: a sandbox whose time has passed is not retried at once.
    Optional<SandboxRecord> correct(SandboxId id, Set<SandboxState> from, Change change) {
        var fresh = write(id, from, change);
        fresh.ifPresent(record -> {
            publish(record);
            expiry.scheduleAgain(record);
        });
        return fresh;
    }

    /// Changes a record to RUNNING, and adds it to the directory.
    Optional<SandboxRecord> run(SandboxId id, Change change) {
        var fresh = write(id, Set.of(SandboxState.STARTING), change);
        fresh.ifPresent(this::load);
        return fresh;
    }

    /// Changes a record to KILLED, if the sandbox lives and is still as expected.
    Optional<SandboxRecord> kill(SandboxId id, KillReason reason, Predicate<SandboxRecord> still) {
        return change(
                id,
                SandboxState.ALIVE,
                (old, now) -> Optional.of(old)
                        .filter(still)
                        .map(record -> record.in(SandboxState.KILLED))
                        .flatMap(record -> Next.of(record, (it, at) -> SandboxEvents.killed(it, reason, at), now)));
    }

    /// Makes a sandbox known that was found on record at a start.
    void load(SandboxRecord sandbox) {
        directory.add(sandbox);
        expiry.schedule(sandbox);
    }

    List<SandboxRecord> notKilled() {
        return store.read(SandboxStore::notKilled);
    }

    /// Runs an action while no record of a living sandbox changes. The action must be short, because all changes wait.
    public <T> T whileStill(Supplier<T> look) {
        time.writeLock().lock();
        try {
            return look.get();
        } finally {
            time.writeLock().unlock();
        }
    }

    /// The clock was set: everything that lives keeps the time it has left.
    public void followClock(Duration jump) {
        List<SandboxRecord> moved;
        time.writeLock().lock();
        try {
            moved = settleUncertain().orElseGet(() -> shift(new TimeShift(jump)));
        } finally {
            time.writeLock().unlock();
        }
        for (var sandbox : moved) {
            directory.update(sandbox);
            expiry.schedule(sandbox);
        }
    }

    /// Finds out whether changes with an unknown outcome were committed. A committed clock shift is followed first; the
    /// rest of the jump shows at the next check.
    private Optional<List<SandboxRecord>> settleUncertain() {
        var earlier = uncertain;
        var moved = earlier == null ? Optional.<List<SandboxRecord>>empty() : store.read(earlier::done);
        if (earlier != null && moved.isPresent()) {
            clock.follow(earlier.by());
        }
        uncertain = null;
        return moved;
    }

    private List<SandboxRecord> shift(TimeShift shift) {
        uncertain = shift;
        var moved = store.write(shift);
        uncertain = null;
        clock.follow(shift.by());
        return moved;
    }

    private Optional<SandboxRecord> write(SandboxId id, Set<SandboxState> from, Change change) {
        var work = new RecordChange(id, from, change, admission, this::now);
        time.readLock().lock();
        try {
            var fresh = store.write(work);
            if (fresh.isPresent()) {
                work.event().ifPresent(events::count);
            }
            return fresh;
        } finally {
            time.readLock().unlock();
        }
    }

    private void publish(SandboxRecord fresh) {
        if (fresh.state() == SandboxState.KILLED) {
            directory.remove(fresh.id());
        } else {
            directory.update(fresh);
        }
    }
}
