package dev.cay.server.sandbox;

import dev.cay.life.SteadyClock;
import dev.cay.server.event.EventStore;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
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

    public SandboxRecords(Store store, SandboxDirectory directory, Expiry expiry, SteadyClock clock) {
        this.store = store;
        this.directory = directory;
        this.expiry = expiry;
        this.clock = clock;
    }

    /// Decides what becomes of a record, within the transaction that writes it.
    interface Change {
        /// @return nothing when the record shall stay as it is
        Optional<Next> of(SandboxRecord old, Instant now);
    }

    /// What a record becomes.
    ///
    /// @param event null where clients are told of none
    /// @param also  is written in the same transaction
    record Next(SandboxRecord fresh, @Nullable LifecycleEvent event, Consumer<Handle> also) {
        Next(SandboxRecord fresh, @Nullable LifecycleEvent event) {
            this(fresh, event, _ -> {});
        }

        /// With an event that is made from the new record.
        static Optional<Next> of(
                SandboxRecord fresh, BiFunction<SandboxRecord, Instant, LifecycleEvent> event, Instant now) {
            return Optional.of(new Next(fresh, event.apply(fresh, now)));
        }

        static Optional<Next> silent(SandboxRecord fresh) {
            return Optional.of(new Next(fresh, null));
        }
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /// On record alone: nobody finds it before it runs.
    void begin(SandboxRecord starting, SandboxStore.@Nullable Request request) {
        store.write(handle -> {
            SandboxStore.insert(handle, starting, request);
            return starting;
        });
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

    /// The same after something failed: a sandbox whose time is over is not tried again at once.
    Optional<SandboxRecord> correct(SandboxId id, Set<SandboxState> from, Change change) {
        var fresh = write(id, from, change);
        fresh.ifPresent(record -> {
            publish(record);
            expiry.scheduleAgain(record);
        });
        return fresh;
    }

    /// The same for a sandbox that has come up: it can be found from now on.
    Optional<SandboxRecord> run(SandboxId id, Change change) {
        var fresh = write(id, Set.of(SandboxState.STARTING), change);
        fresh.ifPresent(this::load);
        return fresh;
    }

    /// Ends a sandbox on record, if it lives and is still as it is wanted.
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

    /// The clock was set: everything that lives keeps the time it has left. On the writer's thread together with the
    /// clock, where all other times that are written come from.
    public void followClock(Duration jump) {
        boolean[] followed = {false};
        try {
            List<SandboxRecord> moved = store.write(handle -> {
                SandboxStore.move(handle, jump);
                clock.follow(jump);
                followed[0] = true;
                return SandboxStore.notKilled(handle);
            });
            for (var sandbox : moved) {
                directory.update(sandbox);
                expiry.schedule(sandbox);
            }
        } catch (RuntimeException e) {
            if (followed[0]) {
                clock.follow(jump.negated());
            }
            throw e;
        }
    }

    private Optional<SandboxRecord> write(SandboxId id, Set<SandboxState> from, Change change) {
        return store.write(handle -> {
            Instant now = now();
            var next = SandboxStore.find(handle, id)
                    .filter(old -> from.contains(old.state()))
                    .flatMap(old -> change.of(old, now));
            if (next.isEmpty()) {
                return Optional.empty();
            }
            var fresh = SandboxStore.change(handle, id, from, _ -> next.get().fresh());
            fresh.ifPresent(record -> note(handle, record, next.get(), now));
            return fresh;
        });
    }

    private static void note(Handle handle, SandboxRecord fresh, Next next, Instant now) {
        if (fresh.state() == SandboxState.KILLED) {
            SandboxStore.noteKilled(handle, fresh.id(), now);
        }
        if (next.event() != null) {
            EventStore.insert(handle, next.event());
        }
        next.also().accept(handle);
    }

    private void publish(SandboxRecord fresh) {
        if (fresh.state() == SandboxState.KILLED) {
            directory.remove(fresh.id());
        } else {
            directory.update(fresh);
        }
    }
}
