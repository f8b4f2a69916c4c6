package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.life.Undo;
import dev.cay.node.build.BuildSandboxHost;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.wire.AccessToken;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The interface of this node for servers: passes calls and requests on to the keepers of sandboxes, and ends or leaves
/// all sandboxes when the node stops.
public final class Keepers implements Node, AutoCloseable {
    /// @param mostSpares how many sandboxes of one kind may be started in advance
    /// @param servers    what side sandboxes of one sandbox may use
    /// @param saves      how long a daemon that stops saves sandboxes that are only frozen
    public record Limits(int mostSpares, ServerLimits servers, Duration saves) {}

    /// The same for a daemon that ends all sandboxes.
    private static final Duration LAST_SAVES = Duration.ofMinutes(5);

    private final Limits limits;
    private final SavedParts saved;
    private final TrafficParts traffic;
    private final SandboxTable table = new SandboxTable();
    private final PausedSandboxes paused;
    private final EndListeners listeners = new EndListeners();
    private final Starts starts;
    private final SideSandboxes sides;
    private final PoolUse use;
    private final Upkeep upkeep;

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
        var parts = new KeeperParts(host, saved, traffic, work);
        this.limits = limits;
        this.saved = saved;
        this.traffic = traffic;
        this.paused = new PausedSandboxes(saved, table);
        var random = new SecureRandom();
        this.sides = new SideSandboxes(parts, limits.servers(), table::get, random);
        var owners = new OwnersOfSandboxes(sides);
        host.network().ownedBy(owners);
        traffic.egress().ownedBy(owners);
        this.use = new PoolUse(
                host.pool(),
                work.files(),
                traffic.logs(),
                () -> Stream.concat(table.all().stream(), sides.keepers()),
                saved);
        this.starts = new Starts(parts, table, this::ended, random, limits.mostSpares(), warming);
        this.upkeep = new Upkeep(host, saved, table, sides, paused, starts);
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
        upkeep.start();
        use.start();
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
        return Optional.ofNullable(table.get(id)).filter(SandboxKeeper::isThere).map(SandboxKeeper::view);
    }

    @Override
    public List<NodeSandbox> list() {
        return table.all().stream()
                .filter(SandboxKeeper::isThere)
                .map(SandboxKeeper::view)
                .toList();
    }

    @Override
    public Saved pause(SandboxId id, Keep keep, Durability until) {
        return table.require(id).saving().pause(keep, until);
    }

    @Override
    public NodeSandbox resume(SandboxId id, boolean memory) {
        starts.requireOpen();
        return starts.awaited(() -> {
            var keeper = table.require(id);
            keeper.saving().resume(memory);
            return keeper.view();
        });
    }

    @Override
    public Saved snapshot(SandboxId id, String name, Keep keep) {
        return table.require(id).saving().snapshot(name, keep);
    }

    @Override
    public NodeSandbox rollback(SandboxId id, String snapshot) {
        starts.requireOpen();
        var keeper = table.require(id);
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
        table.kill(id);
    }

    /// Ends every sandbox that runs, several at a time, and lets no spare one be started behind its back. Paused ones
    /// need nothing of the machine and stay.
    public void killAll() {
        use.close();
        starts.spares().close();
        sides.close();
        ForEachSandbox.each(table.ids(keeper -> !keeper.isPaused()), table::kill);
        paused.settle(false, LAST_SAVES);
    }

    @Override
    public void setEgress(SandboxId id, Egress egress) {
        table.require(id).setEgress(egress);
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
        table.require(id).renewToken(token);
    }

    @Override
    public ResourceUse measure(SandboxId id) {
        return table.require(id).measure();
    }

    @Override
    public Map<SandboxId, ResourceUse> measureAll() {
        return use.measureAll(table.all());
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
        var keeper = table.get(address.sandbox());
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
            undo.add(upkeep);
        }
    }

    private void leaveAll() {
        ForEachSandbox.each(table.ids(_ -> true), id -> {
            var keeper = table.take(id);
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
        ForEachSandbox.each(table.ids(keeper -> keeper.isSpare() || !keeper.isThere()), table::kill);
        return paused.settle(true, limits.saves()) && sides.isEmpty();
    }

    /// Called by a keeper when all resources of its sandbox are removed.
    ///
    /// @param reason null when its end was requested
    private void ended(SandboxKeeper keeper, @Nullable String reason) {
        table.remove(keeper);
        starts.spares().forget(keeper.id());
        traffic.gateways().end(keeper.id());
        if (reason == null || starts.isStopped() || keeper.isSpare()) {
            return;
        }
        listeners.tell(keeper.id(), reason);
    }

    /// Whether the end of this sandbox was asked for and is not done.
    boolean killAsked(SandboxId id) {
        var keeper = table.get(id);
        return keeper != null && keeper.doomed();
    }

    @Override
    public Map<TemplateId, Integer> sparesByTemplate() {
        return starts.spares().byTemplate();
    }

    /// The number of spares.
    public int spares() {
        return starts.spares().count();
    }

    /// Content keys of the layers that sandboxes stand on, whether they run, are paused or are about to start.
    public Set<String> layersInUse() {
        return Stream.concat(table.all().stream(), sides.keepers())
                .flatMap(SandboxKeeper::layers)
                .collect(Collectors.toSet());
    }

    /// Whether a sandbox has this volume mounted, or will when it is resumed.
    public boolean mounts(VolumeId volume) {
        return table.all().stream().flatMap(SandboxKeeper::volumes).anyMatch(volume::equals);
    }

    /// Opens side sandboxes for MCP servers, which are in no list.
    public SideSandboxHost sideSandboxes() {
        return sides;
    }

    /// Opens sandboxes for steps of builds, which are in no list.
    public BuildSandboxHost buildSandboxes() {
        return starts.buildSandboxes();
    }

    /// Saves the sandboxes that are paused and only frozen. Those that cannot be saved stay as they are.
    public void saveFrozen() {
        paused.saveFrozen();
    }

    /// Periodic work of the upkeep.
    void tidy() {
        upkeep.tidy();
    }
}
