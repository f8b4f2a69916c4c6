package dev.cay.server.sandbox;

import dev.cay.life.SteadyClock;
import dev.cay.server.access.Team;
import dev.cay.server.event.EventStore;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Changes what lives: timeouts, network, the end. How sandboxes begin is in {@link SandboxStarter}, how they are
/// paused and go on in {@link Pauses}.
///
/// Every change goes first to the database, together with its event, then to the directory, then to the node. A crash
/// between two steps is mended by {@link Settlement} at the next start.
public final class Sandboxes {
    private static final Logger log = LoggerFactory.getLogger(Sandboxes.class);

    private final Store store;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Expiry expiry;
    private final SteadyClock clock;
    private final Duration maxTimeout;
    /// Ended on record, but their node could not end them yet.
    private final Set<SandboxId> unfinished = ConcurrentHashMap.newKeySet();

    public Sandboxes(
            Store store,
            SandboxDirectory directory,
            Fleet fleet,
            Expiry expiry,
            SteadyClock clock,
            Duration maxTimeout) {
        this.store = store;
        this.directory = directory;
        this.fleet = fleet;
        this.expiry = expiry;
        this.clock = clock;
        this.maxTimeout = maxTimeout;
    }

    /// A living sandbox of this team. Those of others are not there.
    public SandboxRecord require(Team team, SandboxId id) {
        return directory
                .find(id)
                .filter(sandbox -> sandbox.teamId().equals(team.id()))
                .orElseThrow(() -> notFound(id));
    }

    /// A sandbox of this team that lives, or lived within the last days.
    public SandboxRecord requireKnown(Team team, SandboxId id) {
        return directory
                .find(id)
                .or(() -> store.read(handle -> SandboxStore.find(handle, id)))
                .filter(sandbox -> sandbox.teamId().equals(team.id()))
                .orElseThrow(() -> notFound(id));
    }

    /// The same, and it runs.
    public SandboxRecord requireRunning(Team team, SandboxId id) {
        var sandbox = require(team, id);
        if (sandbox.state() != SandboxState.RUNNING) {
            throw notRunning(id);
        }
        return sandbox;
    }

    public List<SandboxRecord> list(Team team) {
        return directory.list().stream()
                .filter(sandbox -> sandbox.teamId().equals(team.id()))
                .toList();
    }

    /// Gives the sandbox at least this much more time; never less than it has.
    SandboxRecord extend(SandboxRecord sandbox, Duration timeout) {
        if (!endFor(sandbox, timeout).isAfter(sandbox.endAt())) {
            return sandbox;
        }
        return changeEnd(sandbox, old -> {
            Instant wanted = endFor(old, timeout);
            return old.until(wanted.isAfter(old.endAt()) ? wanted : old.endAt());
        });
    }

    /// Lets the sandbox's time end so much later from now, sooner or later than it would have. With zero its time is
    /// over now, and {@link Expiry} has it paused or ended as its lifecycle says.
    void setTimeout(SandboxRecord sandbox, Duration timeout) {
        changeEnd(sandbox, old -> old.until(endFor(old, timeout)));
    }

    /// The node first: a client that was told "no internet" must be able to rely on it.
    void setNetwork(SandboxRecord sandbox, SandboxNetwork network) {
        fleet.node().setInternetAccess(sandbox.id(), network.internet());
        change(sandbox, old -> old.with(network), SandboxEvents::networkSet);
    }

    /// To be called in the transaction that keeps what was saved of the sandbox while it went on.
    public void noteSaved(Handle handle, SandboxRecord sandbox) {
        EventStore.insert(handle, SandboxEvents.checkpointed(sandbox, now()));
    }

    /// Ends the sandbox on a client's word.
    void kill(SandboxRecord sandbox, KillReason reason) {
        if (!end(sandbox.id(), reason)) {
            throw notFound(sandbox.id());
        }
    }

    /// Ends the sandbox if it lives. Requests are refused before its connections are cut, as clients ask at once
    /// whether it is gone when a stream breaks.
    boolean end(SandboxId id, KillReason reason) {
        return end(id, reason, sandbox -> true);
    }

    private boolean end(SandboxId id, KillReason reason, Predicate<SandboxRecord> still) {
        Instant now = now();
        Optional<SandboxRecord> killed = store.write(handle -> {
            if (SandboxStore.find(handle, id).filter(still).isEmpty()) {
                return Optional.empty();
            }
            var changed = SandboxStore.change(handle, id, SandboxState.ALIVE, old -> old.in(SandboxState.KILLED));
            changed.ifPresent(sandbox -> {
                SandboxStore.noteKilled(handle, id, now);
                EventStore.insert(handle, SandboxEvents.killed(sandbox, reason, now));
            });
            return changed;
        });
        if (killed.isEmpty()) {
            return false;
        }
        directory.remove(id);
        finish(id);
        log.atInfo()
                .addKeyValue("sandbox", id)
                .addKeyValue("reason", reason.word())
                .log("sandbox ended");
        return true;
    }

    /// Ends a sandbox whose time is over, unless it got more meanwhile.
    void expire(SandboxId id) {
        end(id, KillReason.TIMEOUT, expiry::isDue);
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

    /// Tries again to end what a node could not end before.
    void finishUnfinished() {
        unfinished.forEach(this::finish);
    }

    /// The record is final already, so a node that fails now must not fail the caller.
    private void finish(SandboxId id) {
        try {
            fleet.node().kill(id);
            unfinished.remove(id);
        } catch (RuntimeException e) {
            unfinished.add(id);
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("could not end the sandbox yet");
        }
    }

    private Instant endFor(SandboxRecord sandbox, Duration timeout) {
        Instant wanted = now().plus(timeout);
        Instant latest = sandbox.startedAt().plus(maxTimeout);
        return wanted.isAfter(latest) ? latest : wanted;
    }

    private SandboxRecord changeEnd(SandboxRecord sandbox, UnaryOperator<SandboxRecord> change) {
        var changed = change(sandbox, change, SandboxEvents::timeoutSet);
        expiry.schedule(changed);
        return changed;
    }

    private SandboxRecord change(
            SandboxRecord sandbox,
            UnaryOperator<SandboxRecord> change,
            BiFunction<SandboxRecord, Instant, LifecycleEvent> event) {
        var changed = store.write(handle -> {
            var fresh = SandboxStore.change(handle, sandbox.id(), Set.of(SandboxState.RUNNING), change);
            fresh.ifPresent(record -> EventStore.insert(handle, event.apply(record, now())));
            return fresh;
        });
        var fresh = changed.orElseThrow(
                () -> directory.find(sandbox.id()).isEmpty() ? notFound(sandbox.id()) : notRunning(sandbox.id()));
        directory.update(fresh);
        return fresh;
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    private static CayException notRunning(SandboxId id) {
        return new CayException(
                ErrorKind.CONFLICT, "Sandbox %s is paused; connect to it first, which resumes it".formatted(id));
    }

    static CayException notFound(SandboxId id) {
        return new CayException(
                ErrorKind.NOT_FOUND, "Sandbox \"%s\" doesn't exist or you don't have access to it".formatted(id));
    }
}
