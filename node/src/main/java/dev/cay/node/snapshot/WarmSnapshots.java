package dev.cay.node.snapshot;

import dev.cay.node.image.InterpreterLayers;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.image.Unused;
import dev.cay.wire.CayException;
import dev.cay.wire.node.SandboxKind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots with a started interpreter, from which new sandboxes of a kind are restored instead of started cold.
/// Thread-safe.
///
/// Only the node knows them: a sandbox made from one is like one that was started, only sooner. The name of each is a
/// hash of all it depends on, so any change leads to a new one.
public final class WarmSnapshots {
    private static final Logger log = LoggerFactory.getLogger(WarmSnapshots.class);

    private final LayerStore layers;
    private final NodeLayer nodeLayer;
    private final SnapshotStore snapshots;
    private final String guest;
    private final Map<List<String>, Boolean> interpreters = new ConcurrentHashMap<>();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private volatile Consumer<SandboxKind> lost = _ -> {};

    /// @param guest names the version of the guest that new sandboxes run
    public WarmSnapshots(LayerStore layers, NodeLayer nodeLayer, SnapshotStore snapshots, String guest) {
        this.layers = layers;
        this.nodeLayer = nodeLayer;
        this.snapshots = snapshots;
        this.guest = guest;
    }

    /// Whether sandboxes of this kind have an interpreter, and so are worth to be warmed.
    public boolean isFor(SandboxKind kind) {
        return interpreters.computeIfAbsent(
                kind.layers(),
                keys -> InterpreterLayers.isFromStart(
                        keys.stream().map(layers::path).toList()));
    }

    public String name(SandboxKind kind) {
        var inputs = new ArrayList<>(kind.layers());
        inputs.add(nodeLayer.key(kind.layers()));
        inputs.add(guest);
        inputs.add(kind.resources().toString());
        return SnapshotStore.WARM + LayerStore.hash(inputs);
    }

    /// The warm snapshot for a kind, if there is one.
    public Optional<Snapshot> find(SandboxKind kind) {
        if (!isFor(kind)) {
            return Optional.empty();
        }
        String name = name(kind);
        return refused.contains(name) ? Optional.empty() : snapshots.find(name).filter(Snapshot::hasMemory);
    }

    /// Marks one that could not be restored, so that it is not tried again.
    public void refuse(SandboxKind kind, Snapshot snapshot) {
        if (refused.add(snapshot.name())) {
            lost.accept(kind);
        }
    }

    /// @param listener told of kinds that have no warm snapshot any more; must not block
    public void onLost(Consumer<SandboxKind> listener) {
        lost = listener;
    }

    /// Unmarks a name, because there is a new snapshot of it.
    public void accept(String name) {
        refused.remove(name);
    }

    /// Removes the other warm snapshots of the kind's template.
    public void removeOthers(SandboxKind kind) {
        String name = name(kind);
        for (String other : snapshots.warm()) {
            boolean same = snapshots
                    .find(other)
                    .filter(found -> found.spec().templateId().equals(kind.templateId()))
                    .isPresent();
            if (same && !other.equals(name)) {
                snapshots.delete(other);
            }
        }
    }

    /// Warm snapshots that will not be used any more.
    ///
    /// @param kinds  all kinds of sandboxes that can be created
    /// @param before snapshots saved after this moment stay
    public List<Unused> unused(Collection<SandboxKind> kinds, Instant before) {
        var named = kinds.stream()
                .filter(kind -> kind.snapshot() == null)
                .map(this::name)
                .collect(Collectors.toSet());
        return snapshots.warm().stream()
                .filter(name -> !named.contains(name) && snapshots.isWhole(name))
                .flatMap(name -> snapshots.find(name).stream())
                .filter(snapshot -> !snapshot.about().at().isAfter(before))
                .map(snapshot -> new Unused(
                        "warm snapshot",
                        snapshot.name(),
                        snapshot.memoryBytes(),
                        () -> snapshots.delete(snapshot.name())))
                .toList();
    }

    /// Removes those whose layers are gone.
    public void tidy() {
        for (String name : snapshots.warm()) {
            try {
                var lost = snapshots
                        .find(name)
                        .filter(found -> !found.layers().stream().allMatch(layers::has));
                if (lost.isPresent()) {
                    snapshots.delete(name);
                }
            } catch (CayException e) {
                log.atWarn().setCause(e).addKeyValue("snapshot", name).log("a warm snapshot cannot be read");
                snapshots.delete(name);
            }
        }
    }
}
