package dev.cay.server.sandbox;

import dev.cay.server.access.Team;
import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.network.SandboxNetwork;
import dev.cay.server.quota.Use;
import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Changes living sandboxes: timeout, network, end. {@link SandboxStarter} creates them, {@link Pauses} pauses and
/// resumes them.
///
/// Every change goes first to the record ({@link SandboxRecords}), then to the node.
public final class Sandboxes {
    private static final Logger log = LoggerFactory.getLogger(Sandboxes.class);
    private static final int KILLED_AT_ONCE = 8;

    private final Store store;
    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final Expiry expiry;
    private final SandboxRecords records;
    private final EgressLogs egressLogs;
    private final Duration maxTimeout;
    private final MassKills massKills = new MassKills();
    /// Ended on record, but their node could not end them yet.
    private final Set<SandboxId> unfinished = ConcurrentHashMap.newKeySet();
    /// Ended by themselves, and not on record yet.
    private final Map<SandboxId, KillReason> unwritten = new ConcurrentHashMap<>();

    public Sandboxes(
            Store store,
            SandboxDirectory directory,
            Fleet fleet,
            Expiry expiry,
            SandboxRecords records,
            EgressLogs egressLogs,
            Duration maxTimeout) {
        this.store = store;
        this.directory = directory;
        this.fleet = fleet;
        this.expiry = expiry;
        this.records = records;
        this.egressLogs = egressLogs;
        this.maxTimeout = maxTimeout;
    }

    /// A living sandbox of this team; one of another team counts as missing.
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

    /// The same, and the sandbox must run.
    public SandboxRecord requireRunning(Team team, SandboxId id) {
        var sandbox = require(team, id);
        if (sandbox.state() != SandboxState.RUNNING) {
            throw notRunning(id);
        }
        return sandbox;
    }

    /// The team of one that lives.
    public Optional<TeamId> ownerOf(SandboxId id) {
        return directory.find(id).map(SandboxRecord::teamId);
    }

    public List<SandboxRecord> list(Team team) {
        return directory.list().stream()
                .filter(sandbox -> sandbox.teamId().equals(team.id()))
                .toList();
    }

    /// The number of running sandboxes by team; teams without any are left out.
    public Map<TeamId, Integer> runningByTeam() {
        return directory.list().stream()
                .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                .collect(Collectors.toMap(SandboxRecord::teamId, _ -> 1, Integer::sum));
    }

    /// The resources of the team's running sandboxes.
    public Use use(Team team) {
        return store.read(handle -> SandboxStore.useOfTeam(handle, team.id()));
    }

    /// The same for sandboxes that were created with keys of one family.
    public Use use(String keyFamily) {
        return store.read(handle -> SandboxStore.useOfKey(handle, keyFamily));
    }

    /// @param failed sandboxes that could not be ended, and live on
    public record Killed(int ended, int failed) {}

    /// Ends all sandboxes of a team, paused ones too. Those that are just being made are taken back by who makes them.
    public Killed killAll(Team team) {
        massKills.begin(team.id());
        var ended = new AtomicInteger();
        var failed = new AtomicInteger();
        try (var threads =
                Executors.newFixedThreadPool(KILLED_AT_ONCE, Thread.ofVirtual().factory())) {
            list(team)
                    .forEach(sandbox -> threads.execute(() -> {
                        try {
                            ended.addAndGet(end(sandbox.id(), KillReason.ADMIN) ? 1 : 0);
                        } catch (RuntimeException e) {
                            log.atWarn()
                                    .setCause(e)
                                    .addKeyValue("sandbox", sandbox.id())
                                    .log("could not kill the sandbox");
                            failed.incrementAndGet();
                        }
                    }));
        }
        return new Killed(ended.get(), failed.get());
    }

    /// For a create that begins now; {@link #requirePeriod} says whether it may go on.
    public MassKills.Period period(TeamId team) {
        return massKills.now(team);
    }

    /// Refuses if all sandboxes of the team were ended since.
    void requirePeriod(MassKills.Period period) {
        if (massKills.isOver(period)) {
            throw MassKills.refusal();
        }
    }

    /// Gives the sandbox at least this much more time; never less than it has.
    SandboxRecord extend(SandboxRecord sandbox, Duration timeout) {
        if (!endFor(sandbox, timeout).isAfter(sandbox.endAt())) {
            return sandbox;
        }
        return change(
                sandbox,
                old -> {
                    Instant wanted = endFor(old, timeout);
                    return old.until(wanted.isAfter(old.endAt()) ? wanted : old.endAt());
                },
                SandboxEvents::timeoutSet);
    }

    /// Sets the deadline to this time from now, earlier or later than before. With zero it has passed, and {@link
    /// Expiry} has the sandbox paused or ended as its lifecycle says.
    void setTimeout(SandboxRecord sandbox, Duration timeout) {
        change(sandbox, old -> old.until(endFor(old, timeout)), SandboxEvents::timeoutSet);
    }

    /// The node first: a client that was told "no internet" must be able to rely on it. If the record cannot be
    /// written, the node gets back what it had. One call at a time for each sandbox.
    ///
    /// @param egress what a network says to the node
    void setNetwork(SandboxRecord sandbox, SandboxNetwork network, Function<SandboxNetwork, Egress> egress) {
        var id = sandbox.id();
        fleet.node().setEgress(id, egress.apply(network));
        try {
            change(sandbox, old -> old.with(network), SandboxEvents::networkSet);
        } catch (RuntimeException e) {
            try {
                fleet.node().setEgress(id, egress.apply(sandbox.network()));
            } catch (RuntimeException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    /// Writes down what the sandbox tried to reach: it does not run any more.
    void keepEgressLog(SandboxId id) {
        egressLogs.keep(id);
    }

    /// Ends the sandbox on a client's word.
    void kill(SandboxRecord sandbox, KillReason reason) {
        if (!end(sandbox.id(), reason)) {
            throw notFound(sandbox.id());
        }
    }

    /// Ends the sandbox if it lives. Requests are refused before its connections are cut, because clients check whether
    /// it is gone when a stream breaks.
    boolean end(SandboxId id, KillReason reason) {
        return end(id, reason, sandbox -> true);
    }

    private boolean end(SandboxId id, KillReason reason, Predicate<SandboxRecord> still) {
        if (records.kill(id, reason, still).isEmpty()) {
            return false;
        }
        finish(id);
        log.atInfo()
                .addKeyValue("sandbox", id)
                .addKeyValue("reason", reason.word())
                .log("sandbox ended");
        return true;
    }

    /// Ends a sandbox whose time has passed, unless its deadline was moved meanwhile.
    void expire(SandboxId id) {
        end(id, KillReason.TIMEOUT, expiry::isDue);
    }

    /// Records that a sandbox ended by itself. A failed write is retried, because nobody reports the end again.
    void endUnasked(SandboxId id, KillReason reason) {
        unwritten.put(id, reason);
        end(id, reason);
        unwritten.remove(id);
    }

    /// Tries again to end what a node could not end before, and to write what the store could not.
    void finishUnfinished() {
        unfinished.forEach(this::finish);
        unwritten.forEach(this::endUnasked);
    }

    /// The record is final already, so a node that fails now must not fail the caller.
    private void finish(SandboxId id) {
        try {
            fleet.node().kill(id);
            unfinished.remove(id);
            egressLogs.keep(id);
        } catch (RuntimeException e) {
            unfinished.add(id);
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("could not end the sandbox yet");
        }
    }

    private Instant endFor(SandboxRecord sandbox, Duration timeout) {
        Instant wanted = records.now().plus(timeout);
        Instant latest = sandbox.startedAt().plus(maxTimeout);
        return wanted.isAfter(latest) ? latest : wanted;
    }

    private SandboxRecord change(
            SandboxRecord sandbox,
            UnaryOperator<SandboxRecord> change,
            BiFunction<SandboxRecord, Instant, LifecycleEvent> event) {
        var id = sandbox.id();
        return records.change(id, Set.of(SandboxState.RUNNING), (old, now) -> Next.of(change.apply(old), event, now))
                .orElseThrow(() -> directory.find(id).isEmpty() ? notFound(id) : notRunning(id));
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
