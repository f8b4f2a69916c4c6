package dev.cay.server.backup;

import dev.cay.server.sandbox.LivingSandboxes;
import dev.cay.server.store.StoreView;
import dev.cay.server.template.TemplateContents;
import dev.cay.server.volume.Volumes;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeBackup;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// The list of everything that the records of one moment refer to.
///
/// @param wanted the files to request from the node
record BackupScope(Instant at, NodeBackup.Wanted wanted) {
    /// @param house   names of templates that come with Cay
    /// @param running snapshots of sandboxes that ran shortly before
    static BackupScope of(StoreView view, Set<String> house, Map<SandboxId, String> running, Instant at) {
        var contents = view.read(handle -> TemplateContents.of(handle, house));
        var living = view.read(LivingSandboxes::of);
        var layers = new HashSet<>(contents.layers());
        layers.addAll(living.layers());
        return new BackupScope(
                at,
                new NodeBackup.Wanted(
                        living.ids(), running, contents.snapshots(), layers, view.read(Volumes::onRecord)));
    }
}
