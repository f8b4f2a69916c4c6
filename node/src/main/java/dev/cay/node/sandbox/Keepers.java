package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.http.SandboxAddress;
import dev.cay.http.SandboxPorts;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Slot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All sandboxes of this node, by their keepers: the node as servers see it, and the way in for traffic.
///
/// A sandbox is in the map from the moment its slot is taken until the last of it is gone, so that nobody can make it
/// twice and whoever kills it finds it, also while it starts.
public final class Keepers implements Node, SandboxPorts, AutoCloseable {
    /// Where the node answers for every sandbox, inside it and at the edge.
    public static final int ENVD_PORT = OpenSandbox.ENVD_PORT;

    private static final Logger log = LoggerFactory.getLogger(Keepers.class);
    private static final Duration MEASURE_LIMIT = Duration.ofSeconds(30);
    private static final int TAKEN_UP_AT_ONCE = 32;

    private final Machine machine;
    private final ConcurrentHashMap<SandboxId, SandboxKeeper> keepers = new ConcurrentHashMap<>();
    private final Sweep sweep;
    private final List<EndListener> listeners = new CopyOnWriteArrayList<>();
    private final SecureRandom random = new SecureRandom();
    private final AtomicInteger startsAwaited = new AtomicInteger();
    private final Spares spares;
    private final Queue<SandboxId> inheritedSpares = new ConcurrentLinkedQueue<>();
    private @Nullable Upkeep upkeep;
    private volatile boolean closed;

    public Keepers(Machine machine) {
        this.machine = machine;
        this.sweep = new Sweep(machine, keepers::containsKey, this::slots);
        this.spares = new Spares(
                machine.mostSpares(),
                new Spares.Maker() {
                    @Override
                    public SandboxId make(SandboxKind kind) {
                        return makeSpare(kind);
                    }

                    @Override
                    public void end(SandboxId id) {
                        kill(id);
                    }
                },
                () -> startsAwaited.get() > 0,
                System::nanoTime);
    }

    /// Refuses if a newer Cay has left sandboxes here. To be asked before anything on the host is touched.
    public static void requireKnown(Path records) {
        SandboxNotes.requireKnown(records);
    }

    /// Whether no sandbox was left by any daemon.
    public static boolean noneNoted(Path records) {
        return SandboxNotes.list(records).isEmpty();
    }

    /// Takes up what an earlier daemon left running, and removes what it left half made. Nothing may be created before.
    public void start() {
        Mounts.unmountBelow(machine.pool().directory("sandboxes"));
        var found = new Inheritance(machine).look();
        // Many at once: what takes long here is waiting for a guest that root inside keeps from answering.
        Several.each(found.keySet(), TAKEN_UP_AT_ONCE, id -> takeUp(Objects.requireNonNull(found.get(id))));
        machine.network().removeOrphans(slots());
        machine.snapshots().tidy(this::isInUse);
        upkeep = new Upkeep(
                machine, sweep, spares, List.copyOf(inheritedSpares), this::resisted, this::kill, this::lookAfterSaved);
        upkeep.start();
    }

    private void takeUp(Inheritance.Found found) {
        if (found.notes() == null || (found.slot() == null && !found.isSaved())) {
            Premises.remove(machine, found.id());
            return;
        }
        var keeper = new SandboxKeeper(machine, found.slot(), found.notes(), this::ended);
        keepers.put(found.id(), keeper);
        if (found.isSaved() && !hasComeBack(found)) {
            keeper.adoptPaused();
            return;
        }
        if (found.notes().spare()) {
            // Made by a daemon that may have been another version; nobody waits for its end.
            inheritedSpares.add(found.id());
            return;
        }
        if (!Inheritance.canGoOn(found)) {
            keeper.end();
            return;
        }
        try {
            keeper.adopt();
        } catch (CayException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("sandbox", found.id())
                    .log("a sandbox could not be taken up and is removed");
            keeper.end();
        }
    }

    /// Whether a crash came between the resume of a sandbox and the note of it.
    private boolean hasComeBack(Inheritance.Found found) {
        if (found.phase() != SandboxNotes.Phase.RESUMING) {
            return false;
        }
        machine.runtime().settle(found.id());
        return Inheritance.canGoOn(new Inheritance.Found(
                found.id(),
                found.notes(),
                found.slot(),
                machine.runtime().find(found.id()).orElse(null)));
    }

    @Override
    public SandboxId reserve(SandboxKind kind) {
        return spares.reserve(kind).orElseGet(() -> SandboxId.random(random));
    }

    @Override
    public void expect(SandboxKind kind) {
        spares.expect(kind);
    }

    @Override
    public NodeSandbox create(SandboxSpec spec) {
        requireOpen();
        var known = keepers.get(spec.id());
        if (known != null && known.isSpare() && give(known, spec)) {
            return known.view();
        }
        startsAwaited.incrementAndGet();
        try {
            return start(whole(spec), false).view();
        } finally {
            startsAwaited.decrementAndGet();
        }
    }

    /// With the variables that the snapshot knows and the caller does not name.
    private SandboxSpec whole(SandboxSpec spec) {
        if (spec.snapshot() == null) {
            return spec;
        }
        var environment = new HashMap<>(
                machine.snapshots().require(spec.snapshot()).spec().environment());
        environment.putAll(spec.environment());
        return spec.withEnvironment(environment);
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

    private SandboxId makeSpare(SandboxKind kind) {
        return start(Spares.nobodys(SandboxId.random(random), kind), true).id();
    }

    private SandboxKeeper start(SandboxSpec spec, boolean spare) {
        machine.room().require();
        Slot slot = machine.plan().take();
        var notes = new SandboxNotes(spec, slot.index(), machine.clock().instant(), false, spare);
        var keeper = new SandboxKeeper(machine, slot, notes, this::ended);
        var known = keepers.putIfAbsent(spec.id(), keeper);
        if (known != null) {
            machine.plan().release(slot);
            known.awaitOpen();
            return known;
        }
        keeper.start();
        requireOpen(keeper);
        return keeper;
    }

    /// One that began while the daemon was being stopped is nobody's.
    private void requireOpen(SandboxKeeper keeper) {
        if (closed) {
            keeper.end();
            requireOpen();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        }
    }

    @Override
    public Optional<NodeSandbox> find(SandboxId id) {
        return Optional.ofNullable(keepers.get(id))
                .filter(SandboxKeeper::isThere)
                .map(SandboxKeeper::view);
    }

    @Override
    public List<NodeSandbox> list() {
        return keepers.values().stream()
                .filter(SandboxKeeper::isThere)
                .map(SandboxKeeper::view)
                .toList();
    }

    @Override
    public Saved pause(SandboxId id, Keep keep) {
        return require(id).pause(keep);
    }

    @Override
    public NodeSandbox resume(SandboxId id, boolean memory) {
        requireOpen();
        startsAwaited.incrementAndGet();
        try {
            return require(id).resume(memory);
        } finally {
            startsAwaited.decrementAndGet();
        }
    }

    @Override
    public Saved snapshot(SandboxId id, String name, Keep keep) {
        return require(id).snapshot(name, keep);
    }

    @Override
    public NodeSandbox rollback(SandboxId id, String snapshot) {
        requireOpen();
        return require(id).rollback(snapshot);
    }

    @Override
    public Set<String> snapshots() {
        return machine.snapshots().named();
    }

    @Override
    public void deleteSnapshot(String name) {
        machine.snapshots().delete(name);
    }

    @Override
    public void kill(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper != null) {
            keeper.end();
        }
    }

    /// Ends every sandbox that runs, several at a time, and lets no spare one be started behind its back. Paused ones
    /// need nothing of the machine and stay.
    public void killAll() {
        spares.close();
        Several.each(
                keepers.values().stream()
                        .filter(keeper -> !keeper.isPaused())
                        .map(SandboxKeeper::id)
                        .toList(),
                this::kill);
        awaitSettled();
    }

    private void awaitSettled() {
        var waiting = keepers.values().stream().filter(SandboxKeeper::unsettled).toList();
        Several.each(
                waiting.stream().map(SandboxKeeper::id).toList(),
                id -> require(id).awaitSettled());
    }

    @Override
    public void setInternetAccess(SandboxId id, boolean allowed) {
        require(id).setInternetAccess(allowed);
    }

    @Override
    public ResourceUse measure(SandboxId id) {
        return require(id).measure();
    }

    /// One after the other on one thread: a thousand take some tens of milliseconds.
    @Override
    public Map<SandboxId, ResourceUse> measureAll() {
        if (keepers.isEmpty()) {
            return Map.of();
        }
        try {
            return machine.fileWork().call(MEASURE_LIMIT, this::readAll);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "what sandboxes use cannot be read now", e);
        }
    }

    private Map<SandboxId, ResourceUse> readAll() {
        var disks = machine.pool().used();
        var found = new HashMap<SandboxId, ResourceUse>();
        for (var keeper : keepers.values()) {
            if (!keeper.isThere()) {
                continue;
            }
            try {
                keeper.measure(disks.getOrDefault(keeper.id(), 0L)).ifPresent(use -> found.put(keeper.id(), use));
            } catch (RuntimeException e) {
                // It ended just now; if not, the next reading is seconds away.
                log.atDebug().setCause(e).addKeyValue("sandbox", keeper.id()).log("no reading");
            }
        }
        return found;
    }

    @Override
    public void onLog(LogListener listener) {
        machine.logs().listen(listener);
    }

    @Override
    public void onEnd(EndListener listener) {
        listeners.add(listener);
    }

    @Override
    public void handle(SandboxAddress address, Exchange exchange) throws Exception {
        var keeper = keepers.get(address.sandbox());
        if (keeper == null) {
            EdgeAnswers.sandboxNotFound(exchange, address.sandbox().value());
            return;
        }
        keeper.serve(address.port(), exchange);
    }

    /// Lets go of all sandboxes; they run on. Those that were about to start are taken back.
    @Override
    public void close() {
        endUnclaimed();
        if (upkeep != null) {
            upkeep.close();
        }
        Several.each(List.copyOf(keepers.keySet()), id -> {
            var keeper = keepers.remove(id);
            if (keeper != null) {
                keeper.leave();
            }
        });
    }

    /// Ends what nobody has been told of: spare ones, and those that just start. Nothing is created any more.
    ///
    /// @return whether none is left that runs
    public boolean endUnclaimed() {
        closed = true;
        spares.close();
        Several.each(
                keepers.values().stream()
                        .filter(keeper -> keeper.isSpare() || !keeper.isThere())
                        .map(SandboxKeeper::id)
                        .toList(),
                this::kill);
        awaitSettled();
        return keepers.values().stream().allMatch(keeper -> keeper.isPaused() && !keeper.unsettled());
    }

    /// Told by a keeper when nothing is left of its sandbox.
    ///
    /// @param reason null when somebody asked for it
    private void ended(SandboxKeeper keeper, @Nullable String reason) {
        keepers.remove(keeper.id(), keeper);
        spares.forget(keeper.id());
        if (reason == null || closed || keeper.isSpare()) {
            return;
        }
        log.atInfo()
                .addKeyValue("sandbox", keeper.id())
                .addKeyValue("reason", reason)
                .log("sandbox ended by itself");
        for (var listener : listeners) {
            try {
                listener.ended(keeper.id(), reason);
            } catch (RuntimeException e) {
                log.atError().setCause(e).addKeyValue("sandbox", keeper.id()).log("the end of a sandbox was not noted");
            }
        }
    }

    /// Whether the end of this sandbox was asked for and is not done.
    boolean killAsked(SandboxId id) {
        var keeper = keepers.get(id);
        return keeper != null && keeper.doomed();
    }

    /// How many sandboxes wait to be given away.
    public int spares() {
        return spares.count();
    }

    private SandboxKeeper require(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox %s on this node".formatted(id));
        }
        return keeper;
    }

    private List<Slot> slots() {
        return keepers.values().stream()
                .map(SandboxKeeper::slot)
                .filter(Objects::nonNull)
                .toList();
    }

    /// What the upkeep does from time to time.
    void tidy() {
        if (upkeep != null) {
            upkeep.tidy();
        }
    }

    /// Whether a paused sandbox lies in the snapshot of this name.
    private boolean isInUse(String snapshot) {
        var keeper = keepers.get(new SandboxId(snapshot.substring(0, snapshot.indexOf('.'))));
        return keeper != null && keeper.liesIn(snapshot);
    }

    private void lookAfterSaved() {
        keepers.values().stream().filter(SandboxKeeper::unsettled).forEach(SandboxKeeper::settleAgain);
        machine.snapshots().tidy(this::isInUse);
        machine.snapshots().compressOld();
    }

    private List<SandboxId> resisted() {
        return keepers.values().stream()
                .filter(SandboxKeeper::resisted)
                .map(SandboxKeeper::id)
                .toList();
    }
}
