package dev.cay.node;

import dev.cay.node.build.Builds;
import dev.cay.node.image.TemplateBuilds;
import dev.cay.node.image.Unused;
import dev.cay.node.image.oci.Images;
import dev.cay.node.mcp.repository.RepositoryLayers;
import dev.cay.node.mcp.server.ServerImages;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.WarmSnapshots;
import dev.cay.wire.node.SandboxKind;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// The files of this instance on the disk, and which of them are needed.
///
/// @param base layers of the template `base`, and that of the dashboard
record DiskContents(
        Keepers keepers,
        SnapshotStore snapshots,
        WarmSnapshots warm,
        TemplateBuilds templates,
        Supplier<List<String>> base,
        Builds builds,
        Images images,
        ServerImages servers,
        RepositoryLayers repositories) {
    /// Content keys of all layers that something needs.
    ///
    /// Sandboxes are asked before snapshots: a sandbox that is saved and then ended is in one of the two lists.
    ///
    /// @param named   what sandboxes can be created of
    /// @param ignored names of snapshots that do not count
    Set<String> layersInUse(Collection<SandboxKind> named, Set<String> ignored) {
        var used = new HashSet<>(keepers.layersInUse());
        used.addAll(snapshots.layersInUse(ignored));
        used.addAll(base.get());
        used.addAll(servers.layersInUse());
        templates.list().forEach(template -> used.addAll(template.layers()));
        named.forEach(kind -> used.addAll(kind.layers()));
        return used;
    }

    /// Warm snapshots from which no sandbox will be restored.
    List<Unused> warmSnapshots(Collection<SandboxKind> named, Instant before) {
        return warm.unused(named, before);
    }

    /// Unneeded files other than layers.
    List<Unused> others(Instant before) {
        return Stream.of(
                        builds.unused(before).stream(),
                        images.unused(before).stream(),
                        repositories.unused(before).stream())
                .flatMap(unused -> unused)
                .toList();
    }
}
