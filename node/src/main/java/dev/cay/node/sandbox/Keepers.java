package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.http.SandboxAddress;
import dev.cay.http.SandboxPorts;
import dev.cay.life.TaskGroup;
import dev.cay.node.host.Slot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All sandboxes of this node, by their keepers: the node as servers see it, and the way in for traffic.
public final class Keepers implements Node, SandboxPorts, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Keepers.class);
    private static final Duration ALL_LIMIT = Duration.ofMinutes(5);

    private final Machine machine;
    private final ConcurrentHashMap<SandboxId, SandboxKeeper> keepers = new ConcurrentHashMap<>();
    private final List<EndListener> listeners = new CopyOnWriteArrayList<>();

    public Keepers(Machine machine) {
        this.machine = machine;
    }

    /// Takes up what an earlier daemon left running, and removes what it left half made. Nothing may be created before.
    public void start() {
        Set<SandboxId> found = new LinkedHashSet<>(SandboxNotes.list(machine.records()));
        found.addAll(machine.runtime().list());
        found.addAll(machine.pool().list());
        forAll(found, this::takeUp);
        machine.network().removeOrphans(slots());
    }

    private void takeUp(SandboxId id) {
        var notes = SandboxNotes.read(machine.records(), id);
        if (notes.isEmpty()) {
            SandboxKeeper.remove(machine, id, null);
            return;
        }
        Slot slot = machine.plan().claim(notes.get().slot());
        var container = machine.runtime().find(id);
        if (!notes.get().ready() || container.isEmpty()) {
            SandboxKeeper.remove(machine, id, slot);
            return;
        }
        var keeper = new SandboxKeeper(machine, slot, notes.get(), this::ended);
        try {
            keeper.adopt(container.get());
            keepers.put(id, keeper);
        } catch (CayException e) {
            log.atError().setCause(e).addKeyValue("sandbox", id).log("a sandbox could not be taken up and is removed");
            keeper.end();
        }
    }

    @Override
    public NodeSandbox create(SandboxSpec spec) {
        var known = keepers.get(spec.id());
        if (known != null) {
            return known.view();
        }
        Slot slot = machine.plan().take();
        var notes = new SandboxNotes(spec, slot.index(), machine.clock().instant(), false);
        var keeper = new SandboxKeeper(machine, slot, notes, this::ended);
        keeper.start();
        keepers.put(spec.id(), keeper);
        return keeper.view();
    }

    @Override
    public Optional<NodeSandbox> find(SandboxId id) {
        return Optional.ofNullable(keepers.get(id)).map(SandboxKeeper::view);
    }

    @Override
    public List<NodeSandbox> list() {
        return keepers.values().stream().map(SandboxKeeper::view).toList();
    }

    @Override
    public void kill(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper != null) {
            keeper.end();
            keepers.remove(id, keeper);
        }
    }

    /// Ends every sandbox, several at a time.
    public void killAll() {
        forAll(Set.copyOf(keepers.keySet()), this::kill);
    }

    @Override
    public void setInternetAccess(SandboxId id, boolean allowed) {
        require(id).setInternetAccess(allowed);
    }

    @Override
    public ResourceUse measure(SandboxId id) {
        return require(id).measure();
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

    /// Lets go of all sandboxes; they run on.
    @Override
    public void close() {
        forAll(Set.copyOf(keepers.keySet()), id -> require(id).leave());
        keepers.clear();
    }

    private void ended(SandboxKeeper keeper, String reason) {
        if (keepers.remove(keeper.id(), keeper)) {
            log.atInfo()
                    .addKeyValue("sandbox", keeper.id())
                    .addKeyValue("reason", reason)
                    .log("sandbox ended by itself");
            listeners.forEach(listener -> listener.ended(keeper.id(), reason));
        }
    }

    private SandboxKeeper require(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox %s on this node".formatted(id));
        }
        return keeper;
    }

    private List<Slot> slots() {
        return keepers.values().stream().map(SandboxKeeper::slot).toList();
    }

    private interface Each {
        void run(SandboxId id);
    }

    /// One that fails does not keep the others from their turn.
    private static void forAll(Set<SandboxId> ids, Each action) {
        try (var tasks = new TaskGroup()) {
            for (var id : ids) {
                tasks.run(() -> {
                    try {
                        action.run(id);
                    } catch (RuntimeException e) {
                        log.atError().setCause(e).addKeyValue("sandbox", id).log("a sandbox resisted");
                    }
                });
            }
            tasks.join(ALL_LIMIT);
        } catch (Exception e) {
            throw new CayException(ErrorKind.INTERNAL, "not all sandboxes could be handled", e);
        }
    }
}
