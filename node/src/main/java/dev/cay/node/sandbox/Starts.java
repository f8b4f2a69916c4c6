package dev.cay.node.sandbox;

import dev.cay.node.build.BuildSandboxHost;
import dev.cay.node.build.StartUp;
import dev.cay.node.host.Slot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Starts sandboxes: requested ones, spare ones, and those of builds. Gives spare ones away. Thread-safe.
final class Starts {
    private static final Logger log = LoggerFactory.getLogger(Starts.class);
    private static final Duration START_LIMIT = Duration.ofMinutes(1);

    private final KeeperParts parts;
    private final HostParts host;
    private final SavedParts saved;
    private final SandboxTable table;
    private final SandboxKeeper.Ended ended;
    private final SecureRandom random;
    private final Spares spares;

    /// Kinds that were asked for since the daemon began.
    private final Set<SandboxKind> known = ConcurrentHashMap.newKeySet();

    private final AtomicInteger awaited = new AtomicInteger();
    private volatile boolean stopped;

    /// @param table      gets the sandboxes that are started
    /// @param ended      hears when nothing is left of a sandbox
    /// @param mostSpares how many sandboxes of one kind may be started in advance
    /// @param warming    makes a sandbox's interpreter ready to be saved
    Starts(
            KeeperParts parts,
            SandboxTable table,
            SandboxKeeper.Ended ended,
            SecureRandom random,
            int mostSpares,
            SandboxKeeper.Warming warming) {
        this.parts = parts;
        this.host = parts.host();
        this.saved = parts.saved();
        this.table = table;
        this.ended = ended;
        this.random = random;
        var prewarming = new Prewarming(saved, spec -> start(spec, true), table::kill, random, warming);
        this.spares =
                new Spares(mostSpares, prewarming, () -> awaited.get() > 0, saved.warm()::isFor, System::nanoTime);
        saved.warm().onLost(spares::prepare);
    }

    Spares spares() {
        return spares;
    }

    /// From now on nothing is started. What begins at this moment is ended.
    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    void requireOpen() {
        if (stopped) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        }
    }

    /// An id for the next sandbox of this kind: that of a spare one if there is one.
    SandboxId reserve(SandboxKind kind) {
        if (known.add(kind)) {
            spares.warm(kind);
        }
        return spares.reserve(kind).orElseGet(() -> SandboxId.random(random));
    }

    /// Gives the spare sandbox of this id away, or starts one.
    SandboxKeeper create(SandboxSpec spec) {
        requireOpen();
        var spare = table.get(spec.id());
        if (spare != null && spare.isSpare() && !spec.volumes().isEmpty()) {
            // What runs can get no volumes.
            spares.forget(spec.id());
            spare.end();
            spare = null;
        }
        if (spare != null && spare.isSpare() && give(spare, spec)) {
            return spare;
        }
        return awaited(() -> {
            var keeper = start(saved.snapshots().whole(spec), false);
            startUp(keeper, spec.start());
            return keeper;
        });
    }

    /// No spare sandbox is made while a client waits for this start.
    <T> T awaited(Supplier<T> start) {
        awaited.incrementAndGet();
        try {
            return start.get();
        } finally {
            awaited.decrementAndGet();
        }
    }

    /// Runs the template's start command before the sandbox is given to a client.
    private void startUp(SandboxKeeper keeper, @Nullable StartCommand start) {
        if (start == null) {
            return;
        }
        try {
            new StartUp(BuildSandboxes.sandbox(keeper, table::kill), _ -> {}, (_, _) -> {}, START_LIMIT).run(start);
        } catch (IOException | CayException e) {
            keeper.end();
            throw new CayException(
                    ErrorKind.FAILED, "the template's start command failed: %s".formatted(e.getMessage()), e);
        }
    }

    /// @return false when it had ended meanwhile, and all of it is gone
    private boolean give(SandboxKeeper spare, SandboxSpec spec) {
        try {
            if (!spare.kind().equals(spec.kind())) {
                throw new CayException(ErrorKind.CONFLICT, "the spare sandbox is of another kind");
            }
            spare.give(spec);
            spares.forget(spec.id());
            return true;
        } catch (CayException e) {
            log.atWarn()
                    .addKeyValue("sandbox", spec.id())
                    .addKeyValue("reason", e.getMessage())
                    .log("a spare sandbox could not be given away; another one is started");
            spare.end();
            return false;
        }
    }

    /// Makes the keeper of a sandbox that an earlier daemon left. Starts nothing.
    SandboxKeeper adopt(Leftovers.Found found, SandboxNotes notes) {
        var keeper = new SandboxKeeper(parts, found.slot(), notes, ended);
        table.add(keeper);
        return keeper;
    }

    private SandboxKeeper start(SandboxSpec spec, boolean spare) {
        return start(slot -> new SandboxNotes(spec, slot.index(), host.clock().instant(), false, spare));
    }

    private SandboxKeeper start(Function<Slot, SandboxNotes> notes) {
        host.capacity().require();
        Slot slot = host.plan().take(saved.frozen()::relieve);
        var keeper = new SandboxKeeper(parts, slot, notes.apply(slot), ended);
        var known = table.add(keeper);
        if (known != null) {
            host.plan().release(slot);
            known.awaitOpen();
            return known;
        }
        keeper.start();
        requireOpen(keeper);
        return keeper;
    }

    /// Ends a sandbox that was started while the node began to stop.
    private void requireOpen(SandboxKeeper keeper) {
        if (stopped) {
            keeper.end();
            requireOpen();
        }
    }

    /// Where steps of builds run.
    BuildSandboxHost buildSandboxes() {
        var starter = new BuildSandboxes.Starter() {
            @Override
            public SandboxKeeper step(SandboxSpec spec) {
                requireOpen();
                return start(slot ->
                        SandboxNotes.ofStep(spec, slot.index(), host.clock().instant()));
            }

            @Override
            public SandboxKeeper whole(SandboxSpec spec) {
                requireOpen();
                return start(spec, true);
            }
        };
        return new BuildSandboxes(starter, table::kill, saved.store()::find, random);
    }
}
