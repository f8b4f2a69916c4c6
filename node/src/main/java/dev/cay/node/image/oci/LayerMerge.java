package dev.cay.node.image.oci;

import dev.cay.node.image.LayerStore;
import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Merges several layers on top of each other into one, so that fewer have to be mounted. Files are not copied: they
/// get another name (hard link) in the new layer. The merged view does not change.
///
/// Call it only on platform threads.
public final class LayerMerge {
    /// Counts up when the same layers make another one.
    private static final String VERSION = "1";

    /// Number of layers that become one. The lowest are merged, in groups of this size, so that another layer on top
    /// leaves the groups below unchanged.
    static final int GROUP = 16;

    private final LayerStore layers;

    public LayerMerge(LayerStore layers) {
        this.layers = layers;
    }

    /// Merges until there are few enough.
    ///
    /// @param keys the topmost first, with nothing below them
    /// @return keys of the layers to mount, the topmost first
    public List<String> atMost(int most, List<String> keys) {
        if (most < 1) {
            throw new IllegalArgumentException("there must be a layer");
        }
        var left = keys;
        while (left.size() > most) {
            left = round(left, most);
        }
        return left;
    }

    private List<String> round(List<String> keys, int most) {
        var lowestFirst = keys.reversed();
        int size = Math.min(GROUP, keys.size());
        int groups = Math.ceilDiv(keys.size() - most, size - 1);
        var merged = new ArrayList<String>();
        int at = 0;
        for (int group = 0; group < groups && at < lowestFirst.size(); group++) {
            int end = Math.min(lowestFirst.size(), at + size);
            merged.add(merge(lowestFirst.subList(at, end).reversed(), merged.reversed()));
            at = end;
        }
        merged.addAll(lowestFirst.subList(at, lowestFirst.size()));
        return merged.reversed();
    }

    /// Merges these layers.
    ///
    /// @param keys  the topmost first
    /// @param below keys of the layers below, the topmost first: only their files need to be hidden
    /// @return the key of the merged layer
    public String merge(List<String> keys, List<String> below) {
        if (keys.size() == 1) {
            return keys.getFirst();
        }
        var inputs = new ArrayList<>(List.of(VERSION, Integer.toString(keys.size())));
        inputs.addAll(keys);
        inputs.addAll(below);
        String key = "merged-" + LayerStore.hash(inputs);
        var roots = keys.stream().map(layers::require).toList();
        var rootsBelow = below.stream().map(layers::require).toList();
        layers.build(key, rootfs -> fill(rootfs, roots, rootsBelow));
        return key;
    }

    private static void fill(Path rootfs, List<Path> roots, List<Path> rootsBelow) throws ErrnoException {
        LayerTree.requirePlatformThread();
        var open = new ArrayList<Descriptor>();
        try (var out = FileCalls.open(rootfs.toString(), MergedDirectory.DIRECTORY_FLAGS, 0)) {
            for (var root : roots) {
                open.add(FileCalls.open(root.toString(), MergedDirectory.DIRECTORY_FLAGS, 0));
            }
            for (var root : rootsBelow) {
                open.add(FileCalls.open(root.toString(), MergedDirectory.DIRECTORY_FLAGS, 0));
            }
            entries(open.subList(0, roots.size()), open.subList(roots.size(), open.size()), out);
            FileCopy.attributes(open.getFirst(), ".", out, ".", FileCalls.stat(open.getFirst()));
        } finally {
            open.forEach(Descriptor::close);
        }
    }

    /// @param parts a directory in each of the layers that has it, the topmost first
    /// @param below the same directory in the layers below, as far as it is seen
    private static void entries(List<Descriptor> parts, List<Descriptor> below, Descriptor out) throws ErrnoException {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < parts.size(); i++) {
            var part = parts.get(i);
            for (var names = FileCalls.nextNames(part); !names.isEmpty(); names = FileCalls.nextNames(part)) {
                for (String name : names) {
                    if (seen.add(name)) {
                        entry(parts.subList(i, parts.size()), below, name, out);
                    }
                }
            }
        }
    }

    /// @param parts the topmost of which has the entry
    private static void entry(List<Descriptor> parts, List<Descriptor> below, String name, Descriptor out)
            throws ErrnoException {
        var from = parts.getFirst();
        var status = FileCalls.stat(from, name);
        if (status.directory()) {
            directory(parts, below, name, out);
            FileCopy.attributes(from, name, out, name, status);
        } else if (!status.whiteout()) {
            file(from, name, out);
        } else if (new MergedDirectory(null, below).findBelow(name) != null) {
            EntryCalls.makeWhiteout(out, name);
        }
    }

    private static void directory(List<Descriptor> parts, List<Descriptor> below, String name, Descriptor out)
            throws ErrnoException {
        var merged = MergedDirectory.openVisible(parts, name);
        List<Descriptor> mergedBelow = List.of();
        try {
            FileCalls.makeDirectory(out, name, 0700);
            if (hidesBelow(parts, merged, name)) {
                Attributes.write(out, name, MergedDirectory.OPAQUE, MergedDirectory.OPAQUE_VALUE);
            } else {
                mergedBelow = MergedDirectory.openVisible(below, name);
            }
            try (var made = FileCalls.openEntry(out, name, MergedDirectory.DIRECTORY_FLAGS, true)) {
                entries(merged, mergedBelow, made);
            }
        } finally {
            merged.forEach(Descriptor::close);
            mergedBelow.forEach(Descriptor::close);
        }
    }

    /// Whether one of these layers ends the search for the directory: by an opaque one, or by something else of the
    /// same name.
    private static boolean hidesBelow(List<Descriptor> parts, List<Descriptor> merged, String name)
            throws ErrnoException {
        if (MergedDirectory.opaque(merged.getLast())) {
            return true;
        }
        for (var part : parts) {
            var status = FileCalls.find(part, name);
            if (status != null && !status.directory()) {
                return true;
            }
        }
        return false;
    }

    private static void file(Descriptor from, String name, Descriptor out) throws ErrnoException {
        try {
            EntryCalls.link(from, name, out, name);
        } catch (ErrnoException e) {
            // A file can have only a limited number of names, all on one file system.
            if (e.errno() != Errno.EMLINK && e.errno() != Errno.EXDEV) {
                throw e;
            }
            FileCopy.copy(from, name, out, name);
        }
    }
}
