package dev.cay.node.watch;

import dev.cay.node.linux.Inotify;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A watched directory. All but {@link #happened} and {@link #lost} belongs to the thread of its watch.
final class Folder implements WatchHub.Place {
    /// An inotify event of a watched directory.
    ///
    /// @param mask      the event, without the bit that `directory` stands for
    /// @param directory whether it happened to a directory
    /// @param name      of the entry; empty for the watched directory itself
    record Event(Folder folder, int mask, boolean directory, int cookie, String name) {}

    /// Receives events. Must not block.
    interface Listener {
        void happened(Event event);

        /// The kernel had more to tell than it could keep.
        void lost();
    }

    private final Listener listener;
    private @Nullable Folder parent;
    private String name;
    private final Map<String, Folder> children = new HashMap<>();
    private int number = -1;
    private boolean gone;

    /// The entries at the first look: the kernel may report some of them again.
    private final Set<String> found = new HashSet<>();

    private boolean foundWasTold;

    /// Subdirectories that were not found, perhaps because this directory was being moved itself.
    private final Set<String> missed = new HashSet<>();

    /// The watch's own directory has no parent and no name.
    Folder(Listener listener, @Nullable Folder parent, String name) {
        this.listener = listener;
        this.parent = parent;
        this.name = name;
    }

    @Override
    public void happened(int mask, int cookie, String entry) {
        boolean directory = (mask & Inotify.DIRECTORY) != 0;
        listener.happened(new Event(this, mask & ~Inotify.DIRECTORY, directory, cookie, entry));
    }

    @Override
    public void lost() {
        listener.lost();
    }

    boolean isTop() {
        return parent == null;
    }

    /// Relative to the watch's own directory; `.` for that itself.
    String path() {
        return parent == null ? "." : parent.path(name);
    }

    String path(String entry) {
        return parent == null ? entry : path() + "/" + entry;
    }

    int depth() {
        return parent == null ? 0 : parent.depth() + 1;
    }

    /// The kernel's number of the watch.
    int number() {
        return number;
    }

    void number(int watched) {
        number = watched;
    }

    boolean gone() {
        return gone;
    }

    void end() {
        gone = true;
    }

    Map<String, Folder> children() {
        return children;
    }

    Set<String> found() {
        return found;
    }

    /// Whether the reader of the watch has processed the reports about found entries.
    boolean foundWasTold() {
        return foundWasTold;
    }

    void foundIsTold(boolean told) {
        foundWasTold = told;
    }

    Set<String> missed() {
        return missed;
    }

    /// Notes in the parent that this directory could not be opened.
    void miss() {
        if (parent != null) {
            parent.missed.add(name);
        }
    }

    /// The directory that the parent has under this name, which may be another one.
    @Nullable
    Folder namesake() {
        return parent == null ? null : parent.children.get(name);
    }

    void join() {
        if (parent != null) {
            parent.children.put(name, this);
        }
    }

    void moveTo(Folder to, String as) {
        parent = to;
        name = as;
        join();
    }

    /// Removes this directory from its parent.
    void leave() {
        if (parent != null) {
            parent.children.remove(name, this);
        }
    }
}
