package dev.cay.node;

import dev.cay.node.host.HostLedger;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.Unused;
import dev.cay.node.image.UnusedLayers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeBackup;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.SandboxKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes from the disks of this machine what nothing refers to any more. One collection at a time.
final class DiskCollector implements NodeDisk {
    private static final Logger log = LoggerFactory.getLogger(DiskCollector.class);

    private final LayerStore layers;
    private final UnusedLayers unused;
    private final DiskContents contents;
    private final NodeBackup backup;
    private final NodeVolumes volumes;
    private final InstantSource clock;

    DiskCollector(
            LayerStore layers, DiskContents contents, NodeBackup backup, NodeVolumes volumes, InstantSource clock) {
        this.layers = layers;
        this.unused = new UnusedLayers(layers, DiskCollector::stateDirs);
        this.contents = contents;
        this.backup = backup;
        this.volumes = volumes;
        this.clock = clock;
    }

    /// State directories of all instances that run on this host, or whose sandboxes do.
    private static List<Path> stateDirs() {
        return HostLedger.ofHost().instances().stream()
                .map(claim -> Path.of(claim.stateDir()))
                .toList();
    }

    @Override
    public void keep(Collection<SandboxKind> named) {
        layers.claimAll(contents.layersInUse(named, Set.of()));
    }

    /// Warm snapshots come first, as they name layers. Layers come before all that belongs to layers.
    @Override
    public synchronized void collect(
            Supplier<Collection<SandboxKind>> names, Duration unusedFor, boolean dryRun, Consumer<Removed> told) {
        var before = clock.instant().minus(unusedFor);
        var work = new Work(dryRun, told);
        long since = unused.begin();
        var named = names.get();
        var warm = contents.warmSnapshots(named, before);
        work.remove(warm);
        // A snapshot that could not be removed needs its layers. In a dry run all are still there, and none counts.
        var gone = dryRun ? warm.stream().map(Unused::name).collect(Collectors.toSet()) : Set.<String>of();
        work.remove(unused.layers(contents.layersInUse(named, gone), since, before, dryRun));
        work.remove(unused.leftovers(before));
        work.remove(contents.others(before));
        if (!dryRun) {
            log.atInfo()
                    .addKeyValue("removed", work.count)
                    .addKeyValue("MB", work.bytes >> 20)
                    .log("removed unused layers and files");
        }
    }

    @Override
    public NodeBackup backup() {
        return backup;
    }

    @Override
    public NodeVolumes volumes() {
        return volumes;
    }

    /// One collection.
    private static final class Work {
        private final boolean dryRun;
        private final Consumer<Removed> told;
        private int count;
        private long bytes;

        private Work(boolean dryRun, Consumer<Removed> told) {
            this.dryRun = dryRun;
            this.told = told;
        }

        /// A thing that cannot be removed does not keep the others; the next collection tries again. A collection that
        /// is interrupted ends, as the daemon stops.
        private void remove(List<Unused> found) {
            for (var one : found) {
                try {
                    if (!dryRun) {
                        one.remove().run();
                    }
                    count++;
                    bytes += one.bytes();
                    told.accept(new Removed(one.what(), one.name(), one.bytes()));
                } catch (CayException e) {
                    if (e.kind() == ErrorKind.CANCELED) {
                        throw e;
                    }
                    log.atWarn()
                            .setCause(e)
                            .addKeyValue("what", one.what())
                            .addKeyValue("name", one.name())
                            .log("an unused file cannot be removed");
                }
            }
        }
    }
}
