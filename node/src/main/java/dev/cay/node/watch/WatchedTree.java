package dev.cay.node.watch;

import dev.cay.node.files.FileSystems;
import dev.cay.node.files.FileTree;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.Inotify;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The directories of one watch, kept up to date as they are made, moved and removed. Used by one thread at a time.
///
/// The kernel resolves them below the sandbox's root, and below the watch's own directory without following a link:
/// whatever is exchanged meanwhile, only directories of the sandbox are ever watched.
final class WatchedTree {
    /// Receives changes.
    interface Listener extends Folder.Listener {
        /// Called on the thread that works for this tree.
        ///
        /// @param name relative to the watch's own directory; `.` for that itself
        void changed(String name, Change.Kind kind);
    }

    /// Marks an event that this class makes itself: later events happened after a directory was read.
    private static final int LOOKED = 0;

    private static final int OPEN_FLAGS = FileCalls.DIRECTORY | FileCalls.NONBLOCK | FileCalls.NOCTTY;
    private static final int MAX_DEPTH = 256;
    private static final int MOST_NAMES = 100_000;
    private static final String TOO_MANY = "more than %d directories are watched in the sandbox: watch a part of them"
            .formatted(WatchQuota.MOST_DIRECTORIES);

    private final Listener listener;
    private final WatchWish wish;
    private final FileTree files;
    private final WatchHub hub;
    private final WatchQuota quota;
    private final Folder top;
    private long inode;

    /// A directory on its way from one name to another.
    private @Nullable Folder moving;

    private int cookie;

    WatchedTree(Listener listener, WatchWish wish, FileTree files, WatchHub hub, WatchQuota quota) {
        this.listener = listener;
        this.wish = wish;
        this.files = files;
        this.hub = hub;
        this.quota = quota;
        this.top = new Folder(listener, null, "");
    }

    void begin() throws IOException {
        files.inDirectory(wish.path(), opened -> {
            requireTelling(opened);
            inode = FileCalls.stat(opened).inode();
            return null;
        });
        if (!adopt(top, false)) {
            throw new CayException(ErrorKind.NOT_FOUND, "path '%s' does not exist".formatted(wish.path()));
        }
    }

    private void requireTelling(Descriptor opened) throws IOException {
        if (FileSystems.isRemote(opened) && !wish.remote()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "cannot watch path on network filesystem: " + wish.path());
        }
        if (FileSystems.isLever(opened)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the kernel tells of no changes in '%s'".formatted(wish.path()));
        }
    }

    void handle(Folder.Event event) throws IOException {
        var folder = event.folder();
        if (moving != null && (event.mask() != Inotify.MOVED_TO || event.cookie() != cookie)) {
            drop(moving);
            moving = null;
        }
        if (folder.gone()) {
            return;
        }
        switch (event.mask()) {
            case Inotify.CREATE -> appeared(event);
            case Inotify.MOVED_TO -> arrived(event);
            case Inotify.MOVED_FROM -> left(event);
            case Inotify.DELETE -> {
                folder.found().remove(event.name());
                listener.changed(folder.path(event.name()), Change.Kind.REMOVE);
            }
            case Inotify.MODIFY -> tell(event, Change.Kind.WRITE);
            case Inotify.ATTRIB -> tell(event, Change.Kind.CHMOD);
            case Inotify.DELETE_SELF, Inotify.UNMOUNT -> tell(event, Change.Kind.REMOVE);
            case Inotify.MOVE_SELF -> tell(event, Change.Kind.RENAME);
            case Inotify.IGNORED -> {
                folder.leave();
                drop(folder);
            }
            case LOOKED -> folder.found().clear();
            default -> {}
        }
    }

    /// Reports an event. For a directory that is watched for its parent's sake, the parent reports.
    private void tell(Folder.Event event, Change.Kind kind) {
        if (!event.name().isEmpty()) {
            listener.changed(event.folder().path(event.name()), kind);
        } else if (event.folder().isTop()) {
            listener.changed(".", kind);
        }
    }

    private void appeared(Folder.Event event) throws IOException {
        var folder = event.folder();
        boolean known = folder.found().remove(event.name());
        if (known && folder.foundWasTold()) {
            return;
        }
        listener.changed(folder.path(event.name()), Change.Kind.CREATE);
        if (event.directory() && wish.recursive() && !known) {
            adopt(new Folder(listener, folder, event.name()), true);
        }
    }

    private void left(Folder.Event event) {
        var folder = event.folder();
        folder.found().remove(event.name());
        listener.changed(folder.path(event.name()), Change.Kind.RENAME);
        var child = folder.children().get(event.name());
        if (child != null) {
            child.leave();
        }
        moving = child;
        cookie = event.cookie();
    }

    private void arrived(Folder.Event event) throws IOException {
        var folder = event.folder();
        listener.changed(folder.path(event.name()), Change.Kind.CREATE);
        if (moving != null) {
            var moved = moving;
            moving = null;
            moved.moveTo(folder, event.name());
            adoptMissed(moved);
        } else if (event.directory() && wish.recursive()) {
            // If it was moved away before it could be opened, all its content is new.
            adopt(new Folder(listener, folder, event.name()), event.cookie() == cookie);
        }
    }

    private void adoptMissed(Folder folder) throws IOException {
        var names = List.copyOf(folder.missed());
        folder.missed().clear();
        for (String name : names) {
            adopt(new Folder(listener, folder, name), true);
        }
        for (var child : List.copyOf(folder.children().values())) {
            adoptMissed(child);
        }
    }

    /// Watches the directory, and all below it if the watch is recursive.
    ///
    /// @param tell whether existing entries are reported: they were made before the directory was opened
    /// @return false if the directory does not exist any more
    private boolean adopt(Folder first, boolean tell) throws IOException {
        Deque<Folder> todo = new ArrayDeque<>(List.of(first));
        var looked = new ArrayList<Folder>();
        while (!todo.isEmpty()) {
            var folder = todo.removeFirst();
            var entries = look(folder);
            if (entries == null) {
                folder.miss();
                continue;
            }
            if (isKnown(folder)) {
                continue;
            }
            folder.join();
            folder.foundIsTold(tell);
            folder.found().addAll(entries.keySet());
            looked.add(folder);
            entries.forEach((name, isDirectory) -> {
                if (tell) {
                    listener.changed(folder.path(name), Change.Kind.CREATE);
                }
                if (isDirectory && folder.depth() < MAX_DEPTH) {
                    todo.addLast(new Folder(listener, folder, name));
                }
            });
        }
        // The kernel's reports about entries that were found here have been processed when this mark is reached.
        hub.catchUp();
        looked.forEach(folder -> listener.happened(new Folder.Event(folder, LOOKED, false, 0, "")));
        return first.number() >= 0 && !first.gone();
    }

    /// The entries of the directory by name, each with whether it is a directory; null if it does not exist any more.
    private @Nullable SortedMap<String, Boolean> look(Folder folder) throws IOException {
        if (!quota.takeDirectory()) {
            throw new CayException(ErrorKind.EXHAUSTED, TOO_MANY);
        }
        SortedMap<String, Boolean> entries = null;
        try {
            entries = files.inDirectory(wish.path(), start -> lookAt(folder, start));
        } catch (CayException e) {
            switch (e.kind()) {
                case NOT_FOUND, INVALID_ARGUMENT, CONFLICT, PERMISSION_DENIED -> {}
                default -> throw e;
            }
        } finally {
            if (folder.number() < 0) {
                quota.giveDirectory();
            } else if (entries == null) {
                drop(folder);
            }
        }
        return entries;
    }

    /// The same on a file thread. The directory is opened each time, because one that is kept open does not report its
    /// own end.
    ///
    /// @param start the watch's own directory, or another one that has its name by now
    private @Nullable SortedMap<String, Boolean> lookAt(Folder folder, Descriptor start) throws IOException {
        if (FileCalls.stat(start).inode() != inode) {
            return null;
        }
        if (folder.isTop()) {
            return lookInto(folder, start);
        }
        try (var opened = FileCalls.openBelow(start, folder.path(), OPEN_FLAGS)) {
            return lookInto(folder, opened);
        }
    }

    private @Nullable SortedMap<String, Boolean> lookInto(Folder folder, Descriptor opened) throws IOException {
        boolean silent = FileSystems.isLever(opened) || (FileSystems.isRemote(opened) && !wish.remote());
        if (silent) {
            return null;
        }
        folder.number(add(opened, folder));
        var entries = new TreeMap<String, Boolean>();
        while (wish.recursive() && entries.size() < MOST_NAMES) {
            var more = FileCalls.nextEntries(opened);
            if (more.isEmpty()) {
                break;
            }
            for (var entry : more) {
                entries.put(entry.name(), isDirectory(opened, entry));
            }
        }
        return entries;
    }

    private static boolean isDirectory(Descriptor parent, FileCalls.Listed entry) {
        if (entry.type() != FileCalls.LISTED_UNKNOWN) {
            return entry.type() == FileCalls.LISTED_DIRECTORY;
        }
        try {
            return FileCalls.stat(parent, entry.name()).directory();
        } catch (ErrnoException e) {
            return false; // It went away meanwhile.
        }
    }

    private int add(Descriptor opened, Folder folder) throws ErrnoException {
        try {
            return hub.add(opened, folder);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.ENOSPC) {
                throw new CayException(ErrorKind.EXHAUSTED, "the host has no room for more watched directories", e);
            }
            throw e;
        }
    }

    /// Whether the very same directory is watched under this name; another one that was is forgotten.
    private boolean isKnown(Folder folder) {
        var old = folder.namesake();
        if (old == null) {
            return false;
        }
        if (old.number() == folder.number()) {
            drop(folder);
            return true;
        }
        drop(old);
        return false;
    }

    private void drop(Folder folder) {
        List.copyOf(folder.children().values()).forEach(this::drop);
        folder.children().clear();
        if (!folder.gone()) {
            folder.end();
            if (folder.number() >= 0) {
                hub.remove(folder.number(), folder);
                quota.giveDirectory();
            }
        }
    }

    void close() {
        if (moving != null) {
            drop(moving);
        }
        drop(top);
    }
}
