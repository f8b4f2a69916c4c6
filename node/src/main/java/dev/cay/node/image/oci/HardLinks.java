package dev.cay.node.image.oci;

import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.util.function.LongConsumer;

/// Writes hard links of a layer. A link to a file of a layer below copies that file into this layer first, as a write
/// through overlayfs would.
final class HardLinks {
    private final LayerTree tree;
    private final LongConsumer bytesCopied;

    /// @param bytesCopied gets the number of copied bytes, and throws when they are too many
    HardLinks(LayerTree tree, LongConsumer bytesCopied) {
        this.tree = tree;
        this.bytesCopied = bytesCopied;
    }

    void write(TarEntry entry, EntryPath path) throws ErrnoException {
        var target = EntryPath.parse(entry.linkName(), entry.name());
        if (target.leadsOut()) {
            throw BadImage.entry(entry.name(), "is a hard link that leads out of the image");
        }
        if (target.isRoot()) {
            throw BadImage.entry(entry.name(), "is a hard link to a directory");
        }
        bring(target, entry);
        try (var from = tree.find(target.parent(), entry.name())) {
            if (from == null || from.own() == null) {
                throw absent(entry);
            }
            var own = LayerTree.own(tree.make(path.parent(), entry.name()));
            var source = FileCalls.stat(from.own(), target.last());
            var there = FileCalls.find(own, path.last());
            if (there != null && there.inode() == source.inode()) {
                return;
            }
            var before = FileCalls.stat(own).modified();
            tree.clear(own, path.last(), there);
            EntryCalls.link(from.own(), target.last(), own, path.last());
            EntryCalls.setModified(own, before);
        }
    }

    /// Makes sure that the target is in this layer.
    private void bring(EntryPath target, TarEntry entry) throws ErrnoException {
        try (var directory = tree.find(target.parent(), entry.name())) {
            var found = directory == null ? null : directory.find(target.last());
            if (found == null) {
                throw absent(entry);
            }
            if (found.status().directory()) {
                throw BadImage.entry(entry.name(), "is a hard link to a directory");
            }
            if (!found.isOwn()) {
                bytesCopied.accept(found.status().regular() ? found.status().size() : 0);
                var own = LayerTree.own(tree.make(target.parent(), entry.name()));
                var before = FileCalls.stat(own).modified();
                FileCopy.copy(found.in(), target.last(), own, target.last());
                EntryCalls.setModified(own, before);
            }
        }
    }

    private static RuntimeException absent(TarEntry entry) {
        return BadImage.entry(
                entry.name(), "is a hard link to %s, which does not exist".formatted(BadImage.shown(entry.linkName())));
    }
}
