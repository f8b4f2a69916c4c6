package dev.cay.server;

import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.DiskShare;
import dev.cay.wire.node.Durability;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressSeen;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.Placeholders;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The server's neighbour, in memory: keeps what it was asked for and outlives restarts of the server, as a node does.
final class FakeNode implements Node {
    private final SecureRandom random = new SecureRandom();
    final FakeVolumes volumes = new FakeVolumes();
    volatile Set<SandboxId> roomFor = Set.of();
    volatile List<DiskShare> shares = List.of();
    final Map<SandboxId, AccessToken> tokens = new ConcurrentHashMap<>();
    /// What every sandbox holds, running or paused.
    volatile Consumer<SandboxId> onRenew = _ -> {};
    volatile long diskUsed = 1 << 20;
    private final Map<SandboxId, Instant> started = new ConcurrentHashMap<>();
    /// Snapshots that were deleted, in order.
    final List<String> deleted = new CopyOnWriteArrayList<>();

    final Map<SandboxId, SandboxSpec> running = new ConcurrentHashMap<>();
    final Map<TemplateId, Integer> spares = new ConcurrentHashMap<>();
    final Map<SandboxId, EgressSeen> egressSeen = new ConcurrentHashMap<>();
    final Map<SandboxId, Saved> paused = new ConcurrentHashMap<>();
    final Map<SandboxId, SandboxSpec> pausedSpecs = new ConcurrentHashMap<>();
    final Map<String, SandboxSpec> snapshots = new ConcurrentHashMap<>();
    final List<String> calls = new CopyOnWriteArrayList<>();
    final List<EndListener> listeners = new CopyOnWriteArrayList<>();
    final List<LogListener> logs = new CopyOnWriteArrayList<>();
    volatile Consumer<SandboxSpec> onCreate = spec -> {};
    volatile Consumer<SandboxId> onKill = id -> {};
    volatile Consumer<SandboxId> onPause = id -> {};
    volatile Consumer<SandboxId> onResume = id -> {};
    volatile Consumer<SandboxId> onSnapshot = id -> {};
    volatile Consumer<SandboxId> onFind = id -> {};
    volatile Consumer<SandboxId> onRollback = id -> {};
    /// Called when a sandbox has got other egress.
    volatile Consumer<Egress> onEgress = egress -> {};
    /// Called when a call was done: what it throws is an answer that gets lost.
    volatile Runnable onAnswer = () -> {};
    /// Whether a pause may be answered before the sandbox is saved; {@link #becomesSaved} goes on from there.
    volatile boolean savesLater;
    /// What was to be awaited in the last pause of each sandbox.
    final Map<SandboxId, Durability> acks = new ConcurrentHashMap<>();
    final List<SavedListener> savedListeners = new CopyOnWriteArrayList<>();
    /// What in the sandboxes cannot be saved, if anything.
    volatile @Nullable String unsavable;

    @Override
    public SandboxId reserve(SandboxKind kind) {
        return SandboxId.random(random);
    }

    @Override
    public void expect(SandboxKind kind) {
        calls.add("expect " + kind.templateId());
    }

    @Override
    public NodeSandbox create(SandboxSpec spec) {
        calls.add("create " + spec.id());
        onCreate.accept(spec);
        String snapshot = spec.snapshot();
        if (snapshot != null) {
            require(snapshots.get(snapshot), spec.id());
        }
        return view(Objects.requireNonNullElse(running.putIfAbsent(spec.id(), spec), spec));
    }

    private NodeSandbox view(SandboxSpec spec) {
        var at = started.computeIfAbsent(spec.id(), _ -> Instant.now());
        return new NodeSandbox(spec.id(), spec.templateId(), at, paused.get(spec.id()));
    }

    @Override
    public Optional<NodeSandbox> find(SandboxId id) {
        onFind.accept(id);
        return Optional.ofNullable(running.getOrDefault(id, pausedSpecs.get(id)))
                .map(this::view);
    }

    @Override
    public List<NodeSandbox> list() {
        return Stream.concat(running.values().stream(), pausedSpecs.values().stream())
                .map(this::view)
                .toList();
    }

    @Override
    public Saved pause(SandboxId id, Keep keep, Durability until) {
        calls.add("pause " + id + " " + keep);
        onPause.accept(id);
        var earlier = paused.get(id);
        if (earlier != null) {
            return earlier;
        }
        require(running.get(id), id);
        boolean waits = until == Durability.FROZEN && keep != Keep.FILES && savesLater;
        var saved = waits ? Saved.FROZEN : saved(keep);
        acks.put(id, until);
        var spec = require(running.remove(id), id);
        paused.put(id, saved);
        pausedSpecs.put(id, spec);
        onAnswer.run();
        return saved;
    }

    @Override
    public NodeSandbox resume(SandboxId id, boolean memory) {
        calls.add("resume " + id + " " + memory);
        onResume.accept(id);
        var spec = running.get(id);
        if (spec == null) {
            spec = require(pausedSpecs.remove(id), id);
            paused.remove(id);
            running.put(id, spec);
        }
        onAnswer.run();
        return view(spec);
    }

    @Override
    public Saved snapshot(SandboxId id, String name, Keep keep) {
        calls.add("snapshot " + id + " " + keep);
        onSnapshot.accept(id);
        require(running.get(id), id);
        var saved = saved(keep);
        if (!name.matches("[a-z0-9]+")) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "not a name for a snapshot: " + name);
        }
        if (snapshots.putIfAbsent(name, require(running.get(id), id)) != null) {
            throw new CayException(ErrorKind.ALREADY_EXISTS, "there is a snapshot named " + name);
        }
        return saved;
    }

    @Override
    public NodeSandbox rollback(SandboxId id, String snapshot) {
        calls.add("rollback " + id + " " + snapshot);
        onRollback.accept(id);
        require(snapshots.get(snapshot), id);
        var spec = running.get(id);
        if (spec == null) {
            spec = require(pausedSpecs.remove(id), id);
            paused.remove(id);
            running.put(id, spec);
        }
        return view(spec);
    }

    private Saved saved(Keep keep) {
        String what = unsavable;
        if (keep == Keep.FILES) {
            return Saved.FILES;
        }
        if (what == null) {
            return Saved.WHOLE;
        }
        if (keep == Keep.MEMORY) {
            throw new CayException(ErrorKind.NOT_SAVED, what + " cannot be saved");
        }
        return Saved.filesOnly(what + " cannot be saved");
    }

    @Override
    public Set<String> snapshots() {
        return Set.copyOf(snapshots.keySet());
    }

    @Override
    public void deleteSnapshot(String name) {
        calls.add("delete snapshot " + name);
        deleted.add(name);
        snapshots.remove(name);
    }

    /// One that was paused in some other life.
    void addPaused(SandboxId id) {
        paused.put(id, Saved.WHOLE);
        pausedSpecs.put(
                id,
                new SandboxSpec(
                        id,
                        new TemplateId("t"),
                        List.of(),
                        new Resources(1, 1, 1),
                        Map.of(),
                        null,
                        "user",
                        null,
                        Egress.open(),
                        null));
    }

    /// How often something was asked for.
    long count(String call) {
        return calls.stream().filter(made -> made.startsWith(call)).count();
    }

    private static SandboxSpec require(@Nullable SandboxSpec spec, SandboxId id) {
        if (spec == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox " + id);
        }
        return spec;
    }

    @Override
    public void kill(SandboxId id) {
        calls.add("kill " + id);
        onKill.accept(id);
        running.remove(id);
        pausedSpecs.remove(id);
        paused.remove(id);
        started.remove(id);
    }

    /// Who knows secrets.
    Placeholders placeholders = Placeholders.NONE;

    @Override
    public void setEgress(SandboxId id, Egress egress) {
        require(running.getOrDefault(id, pausedSpecs.get(id)), id);
        running.computeIfPresent(id, (_, spec) -> spec.withEgress(egress));
        calls.add("egress " + id + " " + egress.internet());
        onEgress.accept(egress);
    }

    @Override
    public EgressSeen egressSeen(SandboxId id) {
        return egressSeen.getOrDefault(id, EgressSeen.NOTHING);
    }

    @Override
    public void fillPlaceholders(Placeholders values) {
        placeholders = values;
    }

    @Override
    public Map<TemplateId, Integer> sparesByTemplate() {
        return spares;
    }

    @Override
    public ResourceUse measure(SandboxId id) {
        if (!running.containsKey(id)) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox " + id);
        }
        return new ResourceUse(
                Instant.ofEpochSecond(1_790_000_000), 2, 12.5, 100 << 20, 1000, 50 << 20, 10 << 20, 10_000, 300, 40);
    }

    @Override
    public Map<SandboxId, ResourceUse> measureAll() {
        return running.keySet().stream().collect(Collectors.toMap(id -> id, this::measure));
    }

    @Override
    public void renewToken(SandboxId id, AccessToken token) {
        onRenew.accept(id);
        tokens.put(id, token);
    }

    @Override
    public List<Long> shareDisk(List<DiskShare> shares) {
        this.shares = List.copyOf(shares);
        return shares.stream().map(share -> share.sandboxes().size() * diskUsed).toList();
    }

    @Override
    public void keepRoomFor(Set<SandboxId> toBeSaved) {
        roomFor = Set.copyOf(toBeSaved);
    }

    @Override
    public void onLog(LogListener listener) {
        logs.add(listener);
    }

    @Override
    public void onEnd(EndListener listener) {
        listeners.add(listener);
    }

    @Override
    public void onSaved(SavedListener listener) {
        savedListeners.add(listener);
    }

    /// A frozen sandbox is saved, or could not be.
    void becomesSaved(SandboxId id, Saved saved) {
        paused.put(id, saved);
        savedListeners.forEach(listener -> listener.saved(id, saved));
    }

    /// The sandbox dies on its own.
    void die(SandboxId id, String reason) {
        running.remove(id);
        listeners.forEach(listener -> listener.ended(id, reason));
    }
}
