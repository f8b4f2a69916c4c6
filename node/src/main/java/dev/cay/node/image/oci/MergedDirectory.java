package dev.cay.node.image.oci;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A directory as overlayfs would show it: in a layer that is being written, and in the layers below as far as
/// whiteouts and opaque directories show them. Nothing else writes there meanwhile.
///
/// @param own   in the layer being written; null if it is only in layers below
/// @param below in layers below, the topmost first
record MergedDirectory(@Nullable Descriptor own, List<Descriptor> below) implements AutoCloseable {
    static final String OPAQUE = "trusted.overlay.opaque";
    static final byte[] OPAQUE_VALUE = {'y'};
    static final int DIRECTORY_FLAGS = FileCalls.READ | FileCalls.DIRECTORY;

    /// An entry as it is seen from above.
    ///
    /// @param in directory that holds it
    record Found(Descriptor in, FileStatus status, boolean isOwn) {}

    /// The entry that overlayfs would show under a name; null if there is none or a whiteout hides it.
    @Nullable
    Found find(String name) throws ErrnoException {
        var mine = own == null ? null : FileCalls.find(own, name);
        if (own != null && mine != null) {
            return mine.whiteout() ? null : new Found(own, mine, true);
        }
        return findBelow(name);
    }

    /// Finds an entry in the layers below only.
    @Nullable
    Found findBelow(String name) throws ErrnoException {
        for (var directory : below) {
            var status = FileCalls.find(directory, name);
            if (status != null) {
                return status.whiteout() ? null : new Found(directory, status, false);
            }
        }
        return null;
    }

    /// A directory in this one, without making it in the layer being written. It must be one in some layer.
    MergedDirectory open(String name) throws ErrnoException {
        var mine = own == null ? null : FileCalls.find(own, name);
        if (own == null || mine == null) {
            return new MergedDirectory(null, openBelow(name));
        }
        return open(own, name);
    }

    /// A directory that is in the layer being written.
    MergedDirectory open(Descriptor mine, String name) throws ErrnoException {
        var child = FileCalls.openEntry(mine, name, DIRECTORY_FLAGS, true);
        try {
            return new MergedDirectory(child, opaque(child) ? List.of() : openBelow(name));
        } catch (ErrnoException e) {
            child.close();
            throw e;
        }
    }

    /// Directories of a name in the layers below, as far as they are merged.
    List<Descriptor> openBelow(String name) throws ErrnoException {
        return openVisible(below, name);
    }

    /// The directories of a name that overlayfs merges: up to one that is opaque, or something that is no directory.
    ///
    /// @param parents the topmost first
    static List<Descriptor> openVisible(List<Descriptor> parents, String name) throws ErrnoException {
        var found = new ArrayList<Descriptor>();
        try {
            for (var parent : parents) {
                var status = FileCalls.find(parent, name);
                if (status == null) {
                    continue;
                }
                if (!status.directory()) {
                    break;
                }
                var child = FileCalls.openEntry(parent, name, DIRECTORY_FLAGS, true);
                found.add(child);
                if (opaque(child)) {
                    break;
                }
            }
            return found;
        } catch (ErrnoException e) {
            found.forEach(Descriptor::close);
            throw e;
        }
    }

    static boolean opaque(Descriptor directory) throws ErrnoException {
        return Attributes.has(directory, OPAQUE, OPAQUE_VALUE);
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
        below.forEach(Descriptor::close);
    }
}
