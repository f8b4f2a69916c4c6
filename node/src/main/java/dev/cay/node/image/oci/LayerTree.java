package dev.cay.node.image.oci;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The directories of a layer that is being written, over the layers below: finds the directory for an entry, and makes
/// it in the layer with the attributes of the layers below.
///
/// Links on the way are followed as in a sandbox: in the merged view, and never out of the root. Every step opens one
/// name in an open directory without following anything, so nothing outside is ever touched.
final class LayerTree implements AutoCloseable {
    private static final int MOST_LINKS = 40;
    private static final int MOST_STEPS = 20_000;

    private static final int PLAIN_DIRECTORY = 0755;

    private final List<Descriptor> layersBelow;
    private final int mostDepth;
    private MergedDirectory root;

    /// The last directory asked for: most entries follow others of the same directory.
    private @Nullable MergedDirectory last;

    private List<String> lastPath = List.of();
    /// Whether a change since then may let its path lead elsewhere.
    private boolean outdated;

    /// @param below roots of the layers below, the topmost first
    LayerTree(Path rootfs, List<Path> below, int mostDepth) throws ErrnoException {
        requirePlatformThread();
        this.mostDepth = mostDepth;
        var lower = new ArrayList<Descriptor>();
        try {
            for (var layer : below) {
                lower.add(FileCalls.open(layer.toString(), MergedDirectory.DIRECTORY_FLAGS, 0));
            }
            var own = FileCalls.open(rootfs.toString(), MergedDirectory.DIRECTORY_FLAGS, 0);
            this.root = new MergedDirectory(own, List.copyOf(lower));
            this.layersBelow = List.copyOf(lower);
        } catch (ErrnoException e) {
            lower.forEach(Descriptor::close);
            throw e;
        }
    }

    /// The calls below would hold the carrier of a virtual thread.
    static void requirePlatformThread() {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("layers are written on platform threads");
        }
    }

    MergedDirectory root() {
        return root;
    }

    /// Roots of the layers below, the topmost first, also when they are hidden.
    List<Descriptor> layersBelow() {
        return layersBelow;
    }

    /// Hides the layers below from now on.
    void hideLayersBelow() {
        forget();
        root = new MergedDirectory(root.own(), List.of());
    }

    /// The directory of a path, made in the layer where it is missing. It stays open until the next call.
    ///
    /// @param entry for messages
    MergedDirectory make(List<String> path, String entry) throws ErrnoException {
        if (path.isEmpty()) {
            return root;
        }
        if (last == null || outdated || !lastPath.equals(path)) {
            forget();
            last = walk(path, true, entry);
        }
        if (last == null) {
            throw new IllegalStateException("a created directory exists");
        }
        return last;
    }

    /// The directory of a path if it is in any layer; the caller closes it.
    @Nullable
    MergedDirectory find(List<String> path, String entry) throws ErrnoException {
        return walk(path, false, entry);
    }

    private void forget() {
        if (last != null) {
            last.close();
        }
        last = null;
        outdated = false;
    }

    private @Nullable MergedDirectory walk(List<String> path, boolean make, String entry) throws ErrnoException {
        var walk = new Walk(path, make, entry);
        try {
            boolean there = walk.toTheEnd();
            if (make) {
                // Cached only without links: a path through links may lead elsewhere although this layer did not
                // change.
                lastPath = walk.links == 0 ? List.copyOf(path) : List.of();
            }
            if (there) {
                return walk.here;
            }
            walk.here.close();
            return null;
        } catch (ErrnoException | RuntimeException e) {
            walk.here.close();
            throw e;
        }
    }

    /// The way from the root to a directory.
    private final class Walk {
        private final boolean make;
        private final String entry;
        private final Deque<String> todo;
        private final List<String> done = new ArrayList<>();
        private MergedDirectory here;
        private int links;
        private int steps;

        private Walk(List<String> path, boolean make, String entry) throws ErrnoException {
            this.make = make;
            this.entry = entry;
            this.todo = new ArrayDeque<>(path);
            this.here = again(done);
        }

        /// False if there is no such directory and none is to be made.
        private boolean toTheEnd() throws ErrnoException {
            while (!todo.isEmpty()) {
                String name = todo.removeFirst();
                // After each `..`, which only links contain, resolution starts again at the root.
                steps += name.equals("..") ? done.size() : 1;
                if (steps > MOST_STEPS) {
                    throw BadImage.entry(entry, "lies behind symbolic links that go round and round");
                }
                var found = name.equals("..") ? null : here.find(name);
                if (name.equals("..")) {
                    up();
                } else if (found != null && found.status().symlink()) {
                    follow(EntryCalls.readLink(found.in(), name));
                } else if (!make && (found == null || !found.status().directory())) {
                    return false;
                } else {
                    enter(name, found);
                }
            }
            return true;
        }

        private void up() throws ErrnoException {
            if (!done.isEmpty()) {
                done.removeLast();
                replace(again(done));
            }
        }

        private void follow(String target) throws ErrnoException {
            if (++links > MOST_LINKS) {
                throw BadImage.entry(entry, "lies behind too many symbolic links");
            }
            for (String name : List.of(target.split("/")).reversed()) {
                if (!name.isEmpty() && !name.equals(".")) {
                    todo.addFirst(name);
                }
            }
            if (target.startsWith("/")) {
                done.clear();
                replace(again(done));
            }
        }

        private void enter(String name, MergedDirectory.@Nullable Found found) throws ErrnoException {
            if (found != null && !found.status().directory()) {
                throw BadImage.entry(entry, "lies below %s, which is no directory".formatted(BadImage.shown(name)));
            }
            if (done.size() == mostDepth) {
                throw BadImage.entry(entry, "lies more than %d directories deep".formatted(mostDepth));
            }
            if (make && (found == null || !found.isOwn())) {
                makeIn(here, name, found);
            }
            replace(here.open(name));
            done.add(name);
        }

        private void replace(MergedDirectory next) {
            here.close();
            here = next;
        }
    }

    /// A directory that no entry has named, or not yet.
    private void makeIn(MergedDirectory here, String name, MergedDirectory.@Nullable Found like) throws ErrnoException {
        var own = own(here);
        Instant before = FileCalls.stat(own).modified();
        makeDirectory(own, name, FileCalls.find(own, name));
        if (like != null) {
            FileCopy.attributes(like.in(), name, own, name, like.status());
        } else {
            EntryCalls.setMode(own, name, PLAIN_DIRECTORY);
            EntryCalls.setModified(own, name, Instant.EPOCH);
        }
        EntryCalls.setModified(own, before);
    }

    /// Makes an empty directory where there is none. If this layer had something else there, such as a whiteout, the
    /// directory hides the layers below as well.
    void makeDirectory(Descriptor own, String name, @Nullable FileStatus replaced) throws ErrnoException {
        clear(own, name, replaced);
        FileCalls.makeDirectory(own, name, 0700);
        if (replaced != null) {
            setOpaque(own, name);
        }
    }

    /// Hides what the layers below have in a directory of this layer. Whiteouts in it have nothing left to hide.
    void setOpaque(Descriptor own, String name) throws ErrnoException {
        Attributes.write(own, name, MergedDirectory.OPAQUE, MergedDirectory.OPAQUE_VALUE);
        outdated = true;
        removeWhiteouts(own, name);
    }

    private static void removeWhiteouts(Descriptor parent, String name) throws ErrnoException {
        try (var directory = FileCalls.openEntry(parent, name, MergedDirectory.DIRECTORY_FLAGS, false)) {
            var before = FileCalls.stat(directory).modified();
            for (var some = FileCalls.nextNames(directory); !some.isEmpty(); some = FileCalls.nextNames(directory)) {
                for (String each : some) {
                    var status = FileCalls.stat(directory, each);
                    if (status.whiteout()) {
                        FileCalls.removeFile(directory, each);
                    } else if (status.directory()) {
                        removeWhiteouts(directory, each);
                    }
                }
            }
            EntryCalls.setModified(directory, before);
        }
    }

    /// Removes the entry of this name from this layer, with everything below.
    ///
    /// @param there its status; null if there is nothing
    void clear(Descriptor own, String name, @Nullable FileStatus there) throws ErrnoException {
        if (there == null) {
            return;
        }
        if (there.directory()) {
            removeTree(own, name);
        } else {
            FileCalls.removeFile(own, name);
        }
        outdated = true;
    }

    private static void removeTree(Descriptor parent, String name) throws ErrnoException {
        try (var directory = FileCalls.openEntry(parent, name, MergedDirectory.DIRECTORY_FLAGS, false)) {
            for (var some = FileCalls.nextNames(directory); !some.isEmpty(); some = FileCalls.nextNames(directory)) {
                for (String each : some) {
                    if (FileCalls.stat(directory, each).directory()) {
                        removeTree(directory, each);
                    } else {
                        FileCalls.removeFile(directory, each);
                    }
                }
            }
        }
        FileCalls.removeDirectory(parent, name);
    }

    /// The directory in the layer being written. It exists if {@link #make} returned it.
    static Descriptor own(MergedDirectory directory) {
        if (directory.own() == null) {
            throw new IllegalStateException("the directory is not in the layer");
        }
        return directory.own();
    }

    /// Opens the root, and what leads from there to a directory that was reached before.
    private MergedDirectory again(List<String> names) throws ErrnoException {
        var here = duplicate(root);
        for (String name : names) {
            try (var before = here) {
                here = before.open(name);
            }
        }
        return here;
    }

    private static MergedDirectory duplicate(MergedDirectory directory) throws ErrnoException {
        var below = new ArrayList<Descriptor>();
        for (var each : directory.below()) {
            below.add(DescriptorIo.duplicate(each));
        }
        var own = directory.own();
        return new MergedDirectory(own == null ? null : DescriptorIo.duplicate(own), below);
    }

    @Override
    public void close() {
        forget();
        own(root).close();
        layersBelow.forEach(Descriptor::close);
    }
}
