package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.life.Undo;
import dev.cay.node.build.BuildSandboxHost;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.host.Slot;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.DiskShare;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressSeen;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Placeholders;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// All sandboxes of this node, by their keepers. Implements the interface for servers, and passes requests on to
/// sandboxes.
///
/// A sandbox is in the map from the moment its slot is taken until its last resource is removed, so that it cannot be
/// made twice and can be killed also while it starts.
public final class Keepers implements Node, AutoCloseable {
    /// @param mostSpares how many sandboxes of one kind may be started in advance
    /// @param servers    what side sandboxes of one sandbox may use
    public record Limits(int mostSpares, ServerLimits servers) {}

    private final KeeperParts parts;
    private final HostParts host;
    private final SavedParts saved;
    private final TrafficParts traffic;
    private final ConcurrentHashMap<SandboxId, SandboxKeeper> keepers = new ConcurrentHashMap<>();
    private final PausedSandboxes paused;
    private final EndListeners listeners = new EndListeners();
    private final Starts starts;
    private final SideSandboxes sides;
    private final PoolUse use;
    private @Nullable Upkeep upkeep;

    public Keepers(HostParts host, SavedParts saved, TrafficParts traffic, WorkParts work, Limits limits) {
        this(host, saved, traffic, work, limits, OpenSandbox::awaitWarm);
    }

    /// @param warming makes a sandbox's interpreter ready to be saved
    Keepers(
            HostParts host,
            SavedParts saved,
            TrafficParts traffic,
            WorkParts work,
            Limits limits,
            SandboxKeeper.Warming warming) {
        this.parts = new KeeperParts(host, saved, traffic, work);
        this.host = host;
        this.saved = saved;
        this.traffic = traffic;
        this.paused = new PausedSandboxes(saved, keepers);
        var random = new SecureRandom();
        this.sides = new SideSandboxes(parts, limits.servers(), keepers::get, random);
        var owners = new OwnersOfSandboxes(sides);
        host.network().ownedBy(owners);
        traffic.egress().ownedBy(owners);
        this.use = new PoolUse(
                host.pool(),
                work.files(),
                traffic.logs(),
                () -> Stream.concat(keepers.values().stream(), sides.keepers()),
                saved);
        this.starts = new Starts(parts, keepers, this::ended, this::kill, random, limits.mostSpares(), warming);
    }

    /// Refuses if a newer Cay has left sandboxes here. To be asked before anything on the host is touched.
    public static void requireKnown(Path records) {
        SandboxNotes.requireKnown(records);
    }

    /// Whether no sandbox was left by any daemon.
    public static boolean noneNoted(Path records) {
        return SandboxNotes.list(records).isEmpty();
    }

    /// Adopts running sandboxes of an earlier daemon, and removes incomplete ones. No sandbox may be created
    /// before.
    public void start() {
        Mounts.unmountBelow(host.pool().directory("sandboxes"));
        saved.sealed().clear();
        var leftSpares = new Recovery(host, saved, this::keep).all();
        host.network().removeOrphans(slots());
        paused.tidy();
        var sweep = new Sweep(host, saved, id -> keepers.containsKey(id) || sides.has(id), this::slots);
        upkeep = new Upkeep(
                host.network(), sweep, starts.spares(), leftSpares, this::ending, this::kill, this::lookAfter);
        upkeep.start();
        use.start();
    }

    private SandboxKeeper keep(Leftovers.Found found) {
        var notes = Objects.requireNonNull(found.notes());
        if (notes.isSide()) {
            return sides.keep(found);
        }
        var keeper = new SandboxKeeper(parts, found.slot(), notes, this::ended);
        keepers.put(found.id(), keeper);
        return keeper;
    }

    @Override
    public SandboxId reserve(SandboxKind kind) {
        return starts.reserve(kind);
    }

    @Override
    public void expect(SandboxKind kind) {
        starts.spares().prepare(kind);
    }

    @Override
    public NodeSandbox create(SandboxSpec spec) {
        return starts.create(spec).view();
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
    public Saved pause(SandboxId id, Keep keep, Durability until) {
        return require(id).saving().pause(keep, until);
    }

    @Override
    public NodeSandbox resume(SandboxId id, boolean memory) {
        starts.requireOpen();
        return starts.awaited(() -> {
            var keeper = require(id);
            keeper.saving().resume(memory);
            return keeper.view();
        });
    }

    @Override
    public Saved snapshot(SandboxId id, String name, Keep keep) {
        return require(id).saving().snapshot(name, keep);
    }

    @Override
    public NodeSandbox rollback(SandboxId id, String snapshot) {
        starts.requireOpen();
        var keeper = require(id);
        keeper.saving().rollback(snapshot);
        return keeper.view();
    }

    @Override
    public Set<String> snapshots() {
        return saved.store().named();
    }

    @Override
    public void deleteSnapshot(String name) {
        starts.spares().drop(name);
        saved.store().delete(name);
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
        use.close();
        starts.spares().close();
        sides.close();
        ForEachSandbox.each(
                keepers.values().stream()
                        .filter(keeper -> !keeper.isPaused())
                        .map(SandboxKeeper::id)
                        .toList(),
                this::kill);
        paused.settle(false);
    }

    @Override
    public void setEgress(SandboxId id, Egress egress) {
        require(id).setEgress(egress);
        sides.setEgress(id, egress);
        traffic.gateways().setEgress(id, egress);
    }

    @Override
    public EgressSeen egressSeen(SandboxId id) {
        return traffic.egress().seen(id);
    }

    @Override
    public void fillPlaceholders(Placeholders values) {
        traffic.egress().fillPlaceholders(values);
    }

    @Override
    public void renewToken(SandboxId id, AccessToken token) {
        require(id).renewToken(token);
    }

    @Override
    public ResourceUse measure(SandboxId id) {
        return require(id).measure();
    }

    @Override
    public Map<SandboxId, ResourceUse> measureAll() {
        return use.measureAll(keepers.values());
    }

    @Override
    public List<Long> shareDisk(List<DiskShare> shares) {
        return use.shareDisk(shares);
    }

    @Override
    public void keepRoomFor(Set<SandboxId> toBeSaved) {
        use.keepRoomFor(toBeSaved);
    }

    @Override
    public void onLog(LogListener listener) {
        traffic.logs().listen(listener);
    }

    @Override
    public void onEnd(EndListener listener) {
        listeners.add(listener);
    }

    @Override
    public void onSaved(SavedListener listener) {
        saved.frozen().listen(listener);
    }

    /// Answers a request for any port of a sandbox. The node answers system ports itself and passes all others on
    /// to the server inside.
    public void handle(SandboxAddress address, Exchange exchange) throws Exception {
        var keeper = keepers.get(address.sandbox());
        if (keeper == null) {
            PageOrJson.send(
                    exchange, EdgeAnswer.sandboxNotFound(address.sandbox().value()));
            return;
        }
        keeper.serve(address.port(), exchange);
    }

    /// Closes all sandboxes; they run on. Those that are just starting are removed.
    @Override
    public void close() {
        starts.stop();
        saved.frozen().close();
        // Each step runs even if one before it fails: upkeep that goes on would load the firewall of a closed node.
        try (var undo = new Undo()) {
            undo.step(this::leaveAll);
            undo.step(this::endUnclaimed);
            if (upkeep != null) {
                undo.add(upkeep);
            }
        }
    }

    private void leaveAll() {
        ForEachSandbox.each(List.copyOf(keepers.keySet()), id -> {
            var keeper = keepers.remove(id);
            if (keeper != null) {
                keeper.leave();
            }
        });
    }

    /// Ends sandboxes that no client knows: spares, and those that are just starting. No sandbox is created any
    /// more.
    ///
    /// @return whether no running sandbox is left
    public boolean endUnclaimed() {
        starts.stop();
        use.close();
        starts.spares().close();
        sides.close();
        ForEachSandbox.each(
                keepers.values().stream()
                        .filter(keeper -> keeper.isSpare() || !keeper.isThere())
                        .map(SandboxKeeper::id)
                        .toList(),
                this::kill);
        return paused.settle(true) && sides.isEmpty();
    }

    /// Called by a keeper when all resources of its sandbox are removed.
    ///
    /// @param reason null when its end was requested
    private void ended(SandboxKeeper keeper, @Nullable String reason) {
        keepers.remove(keeper.id(), keeper);
        starts.spares().forget(keeper.id());
        traffic.gateways().end(keeper.id());
        if (reason == null || starts.isStopped() || keeper.isSpare()) {
            return;
        }
        listeners.tell(keeper.id(), reason);
    }

    /// Whether the end of this sandbox was asked for and is not done.
    boolean killAsked(SandboxId id) {
        var keeper = keepers.get(id);
        return keeper != null && keeper.doomed();
    }

    /// The number of spares.
    public int spares() {
        return starts.spares().count();
    }

    /// Content keys of the layers that sandboxes stand on, whether they run, are paused or are about to start.
    public Set<String> layersInUse() {
        return Stream.concat(keepers.values().stream(), sides.keepers())
                .flatMap(SandboxKeeper::layers)
                .collect(Collectors.toSet());
    }

    /// Whether a sandbox has this volume mounted, or will when it is resumed.
    public boolean mounts(VolumeId volume) {
        return keepers.values().stream().flatMap(SandboxKeeper::volumes).anyMatch(volume::equals);
    }

    /// Opens side sandboxes for MCP servers, which are in no list.
    public SideSandboxHost sideSandboxes() {
        return sides;
    }

    /// Opens sandboxes for steps of builds, which are in no list.
    public BuildSandboxHost buildSandboxes() {
        return starts.buildSandboxes();
    }

    private SandboxKeeper require(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox %s on this node".formatted(id));
        }
        return keeper;
    }

    private List<Slot> slots() {
        var own = keepers.values().stream().map(SandboxKeeper::slot).filter(Objects::nonNull);
        return Stream.concat(own, sides.slots()).toList();
    }

    /// Saves the sandboxes that are paused and only frozen. Those that cannot be saved stay as they are.
    public void saveFrozen() {
        paused.saveFrozen();
    }

    /// Periodic work of the upkeep.
    void tidy() {
        if (upkeep != null) {
            upkeep.tidy();
        }
    }

    private void lookAfter() {
        sides.lookAfter();
        paused.lookAfter();
    }

    private List<SandboxId> ending() {
        return keepers.values().stream()
                .filter(SandboxKeeper::isEnding)
                .map(SandboxKeeper::id)
                .toList();
    }
}
