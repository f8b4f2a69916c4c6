package dev.cay.server.sandbox;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.metrics.Timing;
import dev.cay.server.access.Caller;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.sandbox.RecordChange.Next;
import dev.cay.server.template.StartPoint;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Creates sandboxes: a record in state STARTING, the node's sandbox, the record in state RUNNING, an entry in the
/// directory.
///
/// The client is answered last, so every sandbox it knows is on the disk. A failure before that leaves nothing behind.
public final class SandboxStarter {
    private static final Logger log = LoggerFactory.getLogger(SandboxStarter.class);

    private final SandboxRecords records;
    private final Sandboxes sandboxes;
    private final Templates templates;
    private final TemplateSupply supply;
    private final Fleet fleet;
    private final SandboxTokens tokens;
    private final SecureRandom random;
    private final Tally creates;
    private final Timing phases;
    private final ConcurrencyLimit turns;
    private final DiskShares shares;

    /// Creates in progress, with the reason if the sandbox ended meanwhile. Guarded by itself.
    private final Map<SandboxId, String> starting = new HashMap<>();

    /// Creates that failed and are not taken back yet.
    private final Set<SandboxId> failed = ConcurrentHashMap.newKeySet();

    public SandboxStarter(
            SandboxRecords records,
            Sandboxes sandboxes,
            Templates templates,
            TemplateSupply supply,
            Fleet fleet,
            SandboxTokens tokens,
            SecureRandom random,
            ConcurrencyLimit turns,
            DiskShares shares,
            Meters meters) {
        this.records = records;
        this.sandboxes = sandboxes;
        this.templates = templates;
        this.supply = supply;
        this.fleet = fleet;
        this.tokens = tokens;
        this.random = random;
        this.turns = turns;
        this.shares = shares;
        this.creates = meters.tally("cay_creates_total", "Sandboxes that were asked for, by outcome", "result");
        this.phases = meters.timing("cay_create_seconds", "Creates: waiting for their turn, and in all", "phase");
    }

    SandboxRecord start(Caller caller, NewSandbox wanted, SandboxStore.@Nullable Request request) {
        var team = caller.team();
        var period = sandboxes.period(team.id());
        var from = supply.requireStart(team, wanted.template());
        try {
            return start(SandboxCreation.of(caller, wanted, from), request, period);
        } catch (RuntimeException e) {
            // A newer snapshot of the same name may have replaced this one meanwhile.
            var now = supply.requireStart(team, wanted.template());
            if (from.snapshot() == null || now.equals(from)) {
                throw e;
            }
            return start(SandboxCreation.of(caller, wanted, now), request, period);
        }
    }

    /// Creates a copy of a sandbox from a snapshot of it.
    ///
    /// @param period in which the copy was asked for
    public SandboxRecord fork(
            SandboxRecord source, Caller caller, StartPoint from, Duration timeout, MassKills.Period period) {
        return start(SandboxCreation.like(source, caller, from, timeout), null, period);
    }

    private SandboxRecord start(
            SandboxCreation creation, SandboxStore.@Nullable Request request, MassKills.Period period) {
        shares.requireRoom(creation.teamId(), creation.key());
        long began = System.nanoTime();
        try (var _ = turns.take(creation.teamId())) {
            phases.since(began, "queue");
            sandboxes.requirePeriod(period);
            var sandbox = creation.record(id(creation), records.now());
            synchronized (starting) {
                starting.put(sandbox.id(), "");
            }
            SandboxRecord running;
            boolean storeAnswers = false;
            try {
                records.begin(sandbox, request);
                storeAnswers = true;
                fleet.node().create(spec(sandbox, creation));
                storeAnswers = false;
                running = run(sandbox, creation);
            } catch (RuntimeException e) {
                creates.count("failed");
                undo(sandbox.id(), storeAnswers);
                throw e;
            }
            shares.began(running.teamId(), running.keyFamily());
            creates.count("ok");
            phases.since(began, "total");
            announce(running);
            requirePeriod(running, period);
            return running;
        }
    }

    /// Ends a sandbox that began to run after all sandboxes of its team were listed to be ended.
    private void requirePeriod(SandboxRecord running, MassKills.Period period) {
        try {
            sandboxes.requirePeriod(period);
        } catch (CayException e) {
            sandboxes.end(running.id(), KillReason.ADMIN);
            throw e;
        }
    }

    /// Handles the node's report that a sandbox ended by itself. It may come before the record says RUNNING.
    public void ended(SandboxId id, String reason) {
        synchronized (starting) {
            if (starting.containsKey(id)) {
                starting.put(id, reason.isEmpty() ? "ended" : reason);
                return;
            }
        }
        sandboxes.endUnasked(id, KillReason.unasked(reason));
    }

    private SandboxRecord run(SandboxRecord sandbox, SandboxCreation creation) {
        var running = records.run(sandbox.id(), (old, now) -> Optional.of(running(old, creation, now)))
                .orElseThrow(() -> new CayException(ErrorKind.CONFLICT, "the sandbox was killed while it started"));
        templates.spawned(running.templateId(), running.startedAt());
        return running;
    }

    private Next running(SandboxRecord starting, SandboxCreation creation, Instant now) {
        var running = starting.running(now, now.plus(creation.timeout()));
        var event = creation.isFork() ? SandboxEvents.resumed(running, now) : SandboxEvents.created(running, now);
        return new Next(running, event);
    }

    private void announce(SandboxRecord running) {
        String ended;
        synchronized (starting) {
            ended = starting.remove(running.id());
        }
        log.atInfo()
                .addKeyValue("sandbox", running.id())
                .addKeyValue("template", running.templateId())
                .log("sandbox started");
        if (ended != null && !ended.isEmpty()) {
            sandboxes.endUnasked(running.id(), KillReason.unasked(ended));
        }
    }

    /// Undoes a failed create. What cannot be undone now is undone later, or at the next start, because no client knows
    /// the sandbox.
    ///
    /// @param now false when the store failed, so that nobody waits for it a second time
    private void undo(SandboxId id, boolean now) {
        synchronized (starting) {
            starting.remove(id);
        }
        try {
            fleet.node().kill(id);
            if (!now) {
                failed.add(id);
                return;
            }
            records.forget(id);
            failed.remove(id);
        } catch (RuntimeException e) {
            failed.add(id);
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("cannot remove the record of a failed create yet");
        }
    }

    /// Tries again to take back creates that failed.
    void undoUnfinished() {
        failed.forEach(id -> undo(id, true));
    }

    /// The sandbox's id: that of a spare, if one can be used. Snapshots of sandboxes are used too seldom for spares, a
    /// template with a start command would not be ready, and a running sandbox can get no volumes.
    private SandboxId id(SandboxCreation creation) {
        var from = creation.from();
        boolean saved = from.snapshot() != null && from.start() == null;
        return saved || from.toStart() != null || !creation.volumes().isEmpty()
                ? SandboxId.random(random)
                : fleet.node()
                        .reserve(new SandboxKind(
                                from.templateId(), from.origin().layers(), from.resources(), from.snapshot()));
    }

    private SandboxSpec spec(SandboxRecord sandbox, SandboxCreation creation) {
        var from = creation.from();
        return new SandboxSpec(
                sandbox.id(),
                from.templateId(),
                from.origin().layers(),
                from.resources(),
                environment(sandbox, creation),
                sandbox.secure() ? tokens.access(sandbox.id(), sandbox.tokenVersion()) : null,
                from.origin().defaultUser(),
                from.origin().defaultWorkdir(),
                NetworkReader.egress(sandbox.network(), tokens),
                from.snapshot(),
                from.toStart(),
                sandbox.volumes().stream().map(MountedVolume::onNode).toList());
    }

    /// Adds the team, which the node does not know. A client cannot set this variable.
    private static Map<String, String> environment(SandboxRecord sandbox, SandboxCreation creation) {
        var all = new HashMap<>(creation.environment());
        all.put("E2B_TEAM_ID", sandbox.teamId().value());
        return all;
    }
}
