package dev.cay.server.sandbox;

import dev.cay.life.Steps;
import dev.cay.life.TaskGroup;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Pauses and resumes sandboxes, and rolls them back.
///
/// Each change has three steps: the record says what is about to happen, the node does it, the record says that it
/// happened, together with its event. Meanwhile no other change of the sandbox begins, and requests that need it
/// running wait: however many need a paused sandbox, it is resumed once. After a failure, or a crash, the record takes
/// the node's state.
public final class Pauses {
    private static final Logger log = LoggerFactory.getLogger(Pauses.class);
    private static final String TRANSITIONING = "The sandbox is still transitioning. Try again in a moment.";

    private final SandboxRecords records;
    private final SandboxDirectory directory;
    private final Sandboxes sandboxes;
    private final Fleet fleet;
    private final Expiry expiry;
    private final Agreement agreement;
    private final Limits limits;
    private final Transitions transitions = new Transitions();

    /// Limits of pauses and resumes.
    ///
    /// @param maxTimeout longest life of a sandbox from its start
    /// @param patience   how long to wait for another change of the same sandbox
    /// @param ack        what is awaited before a pause is answered whose client does not say
    /// @param starts     shared with creates, which cost a machine as much as resumes
    /// @param saves      shared with snapshots
    public record Limits(
            Duration maxTimeout, Duration patience, Durability ack, ConcurrencyLimit starts, ConcurrencyLimit saves) {}

    public Pauses(
            SandboxRecords records,
            SandboxDirectory directory,
            Sandboxes sandboxes,
            Fleet fleet,
            Expiry expiry,
            Agreement agreement,
            Limits limits) {
        this.records = records;
        this.directory = directory;
        this.sandboxes = sandboxes;
        this.fleet = fleet;
        this.expiry = expiry;
        this.agreement = agreement;
        this.limits = limits;
    }

    /// How to resume a sandbox.
    ///
    /// @param memory false for a fresh start on its files
    /// @param pause  whether its next timeout pauses it; null to keep the setting
    /// @param asked  false if only traffic needs it, which not every sandbox resumes for
    record Wish(Duration timeout, boolean memory, @Nullable Boolean pause, boolean asked) {}

    /// @param wasPaused false for one that ran already, and nothing was done
    record Resumed(SandboxRecord sandbox, boolean wasPaused) {}

    /// Pauses a running sandbox on a client's word.
    ///
    /// @param until what to wait for; null for what the operator has set
    void pause(SandboxRecord sandbox, Keep keep, @Nullable Durability until) {
        var id = sandbox.id();
        if (sandbox.state() != SandboxState.RUNNING) {
            throw refusal(id);
        }
        try (var _ = transitions.begin(id, limits.patience()).orElseThrow(() -> refusal(id))) {
            if (save(sandbox, keep, until == null ? limits.ack() : until, _ -> true)
                    .isEmpty()) {
                throw refusal(id);
            }
        }
    }

    /// Pauses or ends a sandbox whose time has passed, unless its deadline was moved meanwhile. If the pause fails, it
    /// is retried later, because ending the sandbox would lose everything.
    public void expire(SandboxId id) {
        var sandbox = directory.find(id);
        var mine = transitions.begin(id);
        if (mine.isEmpty()) {
            // Another change may be waiting for its turn; it must not end with the sandbox's death.
            sandbox.ifPresent(expiry::scheduleAgain);
            return;
        }
        try (var _ = mine.get()) {
            if (sandbox.filter(Pauses::pausesOnTimeout).isEmpty()) {
                sandboxes.expire(id);
                return;
            }
            save(
                    sandbox.get(),
                    sandbox.get().lifecycle().onTimeout(),
                    limits.ack(),
                    still -> pausesOnTimeout(still) && expiry.isDue(still));
        }
    }

    /// Runs work during which nobody pauses or resumes the sandbox, after those who do so now.
    void alone(SandboxId id, Runnable work) {
        try (var _ = transitions
                .beginSettings(id, limits.patience())
                .orElseThrow(() -> new CayException(ErrorKind.CONFLICT, TRANSITIONING))) {
            work.run();
        }
    }

    /// Saves all that would be paused when their time is over, as far as the limit allows: the machine goes down.
    public void pauseAll(Duration limit) {
        try (var tasks = new TaskGroup()) {
            for (var sandbox : directory.list()) {
                if (pausesOnTimeout(sandbox)) {
                    tasks.run(() -> pauseForStop(sandbox));
                }
            }
            tasks.join(limit);
        } catch (Exception e) {
            log.atError().setCause(e).log("not all sandboxes could be paused in time");
        }
    }

    private void pauseForStop(SandboxRecord sandbox) {
        var mine = transitions.begin(sandbox.id(), limits.patience());
        if (mine.isEmpty()) {
            return;
        }
        try (var _ = mine.get()) {
            save(sandbox, sandbox.lifecycle().onTimeout(), Durability.SAVED, Pauses::pausesOnTimeout);
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", sandbox.id()).log("a sandbox could not be paused");
        }
    }

    /// Resumes a sandbox that is paused or being paused; does nothing if it runs.
    Resumed resume(SandboxId id, Wish wish) {
        long end = System.nanoTime() + limits.patience().toNanos();
        boolean wasPaused = false;
        while (true) {
            var sandbox = directory.find(id).orElseThrow(() -> Sandboxes.notFound(id));
            if (sandbox.state() == SandboxState.RUNNING) {
                return new Resumed(sandbox, wasPaused);
            }
            var mine = transitions.begin(id);
            if (mine.isPresent()) {
                var resumed = resumeAlone(mine.get(), id, wish);
                if (resumed.isPresent()) {
                    return new Resumed(resumed.get(), true);
                }
                continue;
            }
            var other = transitions.find(id);
            Duration left = Duration.ofNanos(end - System.nanoTime());
            if (left.isNegative() || (other.isPresent() && !other.get().await(left))) {
                throw new CayException(ErrorKind.CONFLICT, TRANSITIONING);
            }
            if (other.isPresent()) {
                other.get().failureFor(wish.memory()).ifPresent(failure -> {
                    throw failure;
                });
                wasPaused |= other.get().isResume();
            }
        }
    }

    /// Resumes, and extends the deadline to at least the wanted timeout.
    Resumed connect(SandboxId id, Wish wish) {
        long end = System.nanoTime() + limits.patience().toNanos();
        boolean wasPaused = false;
        while (true) {
            var resumed = resume(id, wish);
            wasPaused |= resumed.wasPaused();
            try {
                return new Resumed(sandboxes.extend(resumed.sandbox(), wish.timeout()), wasPaused);
            } catch (CayException e) {
                // If another request pauses the sandbox in between, wait for that and retry.
                if (e.kind() != ErrorKind.CONFLICT || !awaitOther(id, end)) {
                    throw e;
                }
            }
        }
    }

    /// @return false when there is no time left
    private boolean awaitOther(SandboxId id, long end) {
        Duration left = Duration.ofNanos(end - System.nanoTime());
        return !left.isNegative()
                && transitions.find(id).map(other -> other.await(left)).orElse(true);
    }

    /// Resumes a sandbox because a request to one of its ports came.
    public SandboxRecord wake(SandboxRecord sandbox) {
        var wish = new Wish(sandbox.lifecycle().resumeTimeout(), true, null, false);
        return resume(sandbox.id(), wish).sandbox();
    }

    /// Rolls a sandbox back to a snapshot, and runs it from there. A running sandbox keeps its deadline.
    ///
    /// @param timeout its lifetime if it is paused now
    public SandboxRecord rollback(SandboxRecord sandbox, String snapshot, Duration timeout) {
        var id = sandbox.id();
        try (var mine = transitions.begin(id, limits.patience()).orElseThrow(() -> refusal(id));
                var _ = limits.starts().take(sandbox.teamId())) {
            mine.resumes(true);
            var stable = Set.of(SandboxState.RUNNING, SandboxState.PAUSED);
            var resuming = move(id, stable, SandboxState.RESUMING, _ -> true).orElseThrow(() -> refusal(id));
            try {
                fleet.node().rollback(id, snapshot);
            } catch (RuntimeException e) {
                lookAfter(resuming);
                throw e;
            }
            return goOn(resuming, new Wish(timeout, true, null, true));
        }
    }

    /// Repairs sandboxes in the middle of a change that no thread works on any more: the database was full, or the node
    /// not reachable. Looks up those whose save the server may not have heard of.
    void repair() {
        for (var sandbox : directory.list()) {
            if (isChanging(sandbox)) {
                transitions.begin(sandbox.id()).ifPresent(this::mendAlone);
            } else if (isFrozen(sandbox)) {
                agreed(sandbox);
            }
        }
    }

    private void mendAlone(Transitions.Transition mine) {
        try (mine) {
            directory.find(mine.id()).filter(Pauses::isChanging).ifPresent(this::lookAfter);
        }
    }

    /// Resumes; empty when the sandbox is not in state PAUSED any more, or not yet: then the caller looks again.
    private Optional<SandboxRecord> resumeAlone(Transitions.Transition mine, SandboxId id, Wish wish) {
        try (mine) {
            var sandbox = directory.find(id).orElseThrow(() -> Sandboxes.notFound(id));
            if (isChanging(sandbox)) {
                if (lookAfter(sandbox).isEmpty()) {
                    throw refusal(id);
                }
                return Optional.empty();
            }
            if (sandbox.state() != SandboxState.PAUSED) {
                return Optional.empty();
            }
            if (!wish.asked() && !sandbox.wakes()) {
                throw Sandboxes.notFound(id);
            }
            mine.resumes(wish.memory());
            try (var _ = limits.starts().take(sandbox.teamId())) {
                return Optional.of(bringBack(id, wish));
            } catch (RuntimeException e) {
                mine.failed(e);
                throw e;
            }
        }
    }

    private SandboxRecord bringBack(SandboxId id, Wish wish) {
        var resuming = move(id, Set.of(SandboxState.PAUSED), SandboxState.RESUMING, _ -> true)
                .orElseThrow(() -> Sandboxes.notFound(id));
        var saved = resuming.saved();
        boolean memory = wish.memory() && saved != null && saved.memory();
        Steps.reach("resuming");
        try {
            fleet.node().resume(id, memory);
        } catch (RuntimeException e) {
            return lookAfter(resuming)
                    .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                    .orElseThrow(() -> memory ? explained(e) : e);
        }
        Steps.reach("node-resumed");
        return goOn(resuming, wish);
    }

    /// The node has it running: a new run on record.
    private SandboxRecord goOn(SandboxRecord resuming, Wish wish) {
        var id = resuming.id();
        var timeout = wish.timeout().compareTo(limits.maxTimeout()) > 0 ? limits.maxTimeout() : wish.timeout();
        var record = records.change(id, Set.of(SandboxState.RESUMING), (old, now) -> {
                    var lifecycle = wish.pause() == null
                            ? old.lifecycle()
                            : old.lifecycle().pausing(wish.pause());
                    Instant until = old.saved() == null ? old.endAt() : now.plus(timeout);
                    var fresh = old.with(lifecycle).resumed(UUID.randomUUID().toString(), now, until);
                    return Next.of(fresh, SandboxEvents::resumed, now);
                })
                .orElseThrow(() -> Sandboxes.notFound(id));
        log.atInfo().addKeyValue("sandbox", id).log("sandbox resumed");
        return record;
    }

    /// Empty when it was not there to be paused.
    private Optional<SandboxRecord> save(
            SandboxRecord sandbox, Keep keep, Durability until, Predicate<SandboxRecord> still) {
        var id = sandbox.id();
        try (var _ = limits.saves().take(sandbox.teamId())) {
            var pausing = move(id, Set.of(SandboxState.RUNNING), SandboxState.PAUSING, still);
            if (pausing.isEmpty()) {
                return Optional.empty();
            }
            Steps.reach("pausing");
            Saved saved;
            try {
                saved = fleet.node().pause(id, keep, until);
            } catch (RuntimeException e) {
                return Optional.of(lookAfter(pausing.get())
                        .filter(found -> found.state() == SandboxState.PAUSED)
                        .orElseThrow(() -> e));
            }
            sandboxes.keepEgressLog(id);
            Steps.reach("node-paused");
            return Optional.of(notePaused(id, saved));
        }
    }

    private SandboxRecord notePaused(SandboxId id, Saved saved) {
        var record = records.change(
                        id,
                        Set.of(SandboxState.PAUSING),
                        (old, now) ->
                                Next.of(old.paused(saved, now), (it, at) -> SandboxEvents.paused(it, saved, at), now))
                .orElseThrow(() -> Sandboxes.notFound(id));
        log.atInfo()
                .addKeyValue("sandbox", id)
                .addKeyValue("memory", saved.memory())
                .addKeyValue("durability", saved.durability().word())
                .log("sandbox paused");
        // The node may have saved it before the record said that it is paused.
        return isFrozen(record) ? agreed(record) : record;
    }

    private SandboxRecord agreed(SandboxRecord paused) {
        return fleet.node()
                .find(paused.id())
                .flatMap(there -> Optional.ofNullable(there.saved()))
                .flatMap(saved -> noteSaved(paused.id(), saved))
                .orElse(paused);
    }

    /// The node saved a sandbox that was paused before, or could not. Does nothing for one that is not paused any more.
    public Optional<SandboxRecord> noteSaved(SandboxId id, Saved saved) {
        return records.change(
                id,
                Set.of(SandboxState.PAUSED),
                (old, now) -> saved.equals(old.saved())
                        ? Optional.empty()
                        : Next.of(old.paused(saved, old.endAt()), SandboxEvents::durabilityChanged, now));
    }

    /// A call that failed may have been done all the same, if only its answer was lost: the node knows. When that
    /// cannot be asked either, the record stays as it is and is repaired later.
    private Optional<SandboxRecord> lookAfter(SandboxRecord sandbox) {
        try {
            var there = fleet.node().find(sandbox.id());
            if (there.isEmpty()) {
                sandboxes.end(sandbox.id(), KillReason.ORPHANED);
                return Optional.empty();
            }
            return agreement.agree(sandbox, there.get());
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", sandbox.id())
                    .log("the node's state of a sandbox cannot be read yet");
            return Optional.empty();
        }
    }

    private Optional<SandboxRecord> move(
            SandboxId id, Set<SandboxState> from, SandboxState to, Predicate<SandboxRecord> still) {
        return records.change(
                id, from, (old, _) -> Optional.of(old).filter(still).flatMap(it -> Next.silent(it.in(to))));
    }

    private static boolean isChanging(SandboxRecord sandbox) {
        return sandbox.state() == SandboxState.PAUSING || sandbox.state() == SandboxState.RESUMING;
    }

    /// Whether it is paused and, as far as is known, not saved yet.
    private static boolean isFrozen(SandboxRecord sandbox) {
        var saved = sandbox.saved();
        return sandbox.state() == SandboxState.PAUSED && saved != null && saved.durability() == Durability.FROZEN;
    }

    private static boolean pausesOnTimeout(SandboxRecord sandbox) {
        return sandbox.state() == SandboxState.RUNNING && sandbox.lifecycle().pause();
    }

    private CayException refusal(SandboxId id) {
        var state = directory.find(id).map(SandboxRecord::state);
        if (state.isEmpty()) {
            return Sandboxes.notFound(id);
        }
        return new CayException(
                ErrorKind.CONFLICT,
                state.get() == SandboxState.PAUSED
                        ? "Sandbox %s is already paused".formatted(id)
                        : "Sandbox %s is being paused or resumed; try again in a moment".formatted(id));
    }

    /// Adds to a failure what the caller can do about it, if there is something.
    private static RuntimeException explained(RuntimeException e) {
        if (!(e instanceof CayException known) || known.kind() != ErrorKind.NOT_RESTORED) {
            return e;
        }
        return new CayException(
                ErrorKind.NOT_RESTORED,
                "%s; nothing is lost: connect with onResume: 'reboot' (\"memory\": false) resumes it from its files"
                        .formatted(known.userMessage()),
                e);
    }
}
