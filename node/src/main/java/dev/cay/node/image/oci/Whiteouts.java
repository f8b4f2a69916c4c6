package dev.cay.node.image.oci;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.util.List;

/// The entries by which an image's layer hides what the layers below have. `.wh.NAME` hides one name,
/// `.wh..wh..opq` all that a directory has. Entries of the same layer are never hidden, wherever they stand in the
/// archive.
///
/// A whiteout is made only if there is something to hide: in a directory that no other layer has, overlayfs would
/// list its name.
final class Whiteouts {
    static final String PREFIX = ".wh.";
    static final String OPAQUE = ".wh..wh..opq";
    /// Prefix of names that an old union file system kept for itself.
    private static final String INTERNAL = ".wh..wh.";

    private final LayerTree tree;
    private boolean rootOpaque;

    Whiteouts(LayerTree tree) {
        this.tree = tree;
    }

    /// Applies an entry that is a whiteout.
    ///
    /// @return false if it is none
    boolean take(TarEntry entry, EntryPath path) throws ErrnoException {
        for (String name : path.parent()) {
            if (name.startsWith(INTERNAL) && !name.equals(OPAQUE)) {
                return true;
            }
            if (name.startsWith(PREFIX)) {
                throw BadImage.entry(entry.name(), "lies below a whiteout");
            }
        }
        String name = path.last();
        if (!name.startsWith(PREFIX)) {
            return false;
        }
        if (name.startsWith(INTERNAL) && !name.equals(OPAQUE)) {
            return true;
        }
        if (entry.kind() != TarEntry.Kind.FILE && entry.kind() != TarEntry.Kind.HARD_LINK) {
            throw BadImage.entry(entry.name(), "is a whiteout and must be a file");
        }
        if (name.equals(OPAQUE)) {
            makeOpaque(entry, path.parent());
        } else {
            hide(entry, path.parent(), name.substring(PREFIX.length()));
        }
        return true;
    }

    /// Call this after the last entry. Overlayfs ignores the opaque mark on roots of layers, so existing names are
    /// hidden one by one.
    void finish() throws ErrnoException {
        if (!rootOpaque) {
            return;
        }
        var own = LayerTree.own(tree.root());
        var below = new MergedDirectory(null, tree.layersBelow());
        var before = FileCalls.stat(own).modified();
        for (var layer : tree.layersBelow()) {
            try (var listed = FileCalls.openEntry(layer, ".", MergedDirectory.DIRECTORY_FLAGS, true)) {
                for (var names = FileCalls.nextNames(listed); !names.isEmpty(); names = FileCalls.nextNames(listed)) {
                    for (String name : names) {
                        if (below.findBelow(name) != null) {
                            hide(own, name);
                        }
                    }
                }
            }
        }
        EntryCalls.setModified(own, before);
    }

    private void makeOpaque(TarEntry entry, List<String> directory) throws ErrnoException {
        if (directory.isEmpty()) {
            rootOpaque = true;
            tree.hideLayersBelow();
            return;
        }
        try (var seen = tree.find(directory, entry.name())) {
            if (seen == null) {
                return;
            }
        }
        tree.setOpaque(LayerTree.own(tree.make(directory, entry.name())), ".");
    }

    private void hide(TarEntry entry, List<String> directory, String name) throws ErrnoException {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            throw BadImage.entry(entry.name(), "is a whiteout of no name");
        }
        try (var seen = tree.find(directory, entry.name())) {
            // Some programs also write whiteouts for entries of a directory that is a file now.
            if (seen == null || seen.findBelow(name) == null) {
                return;
            }
        }
        var own = LayerTree.own(tree.make(directory, entry.name()));
        var before = FileCalls.stat(own).modified();
        hide(own, name);
        EntryCalls.setModified(own, before);
    }

    private void hide(Descriptor own, String name) throws ErrnoException {
        var there = FileCalls.find(own, name);
        if (there == null) {
            EntryCalls.makeWhiteout(own, name);
        } else if (there.directory()) {
            tree.setOpaque(own, name);
        }
    }
}
