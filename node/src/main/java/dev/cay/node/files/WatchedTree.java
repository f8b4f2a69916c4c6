package dev.cay.node.files;

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

/// The directories a {@link Watch} knows, kept as they are made, moved and removed. One thread at a time.
///
/// They are found by the kernel below the sandbox's root, and below the watch's own directory without following a link:
/// whatever is exchanged meanwhile, only directories of the sandbox are ever watched.
final class WatchedTree {
    private static final int OPEN_FLAGS = FileCalls.DIRECTORY | FileCalls.NONBLOCK | FileCalls.NOCTTY;
    private static final int MAX_DEPTH = 256;
    private static final int MOST_NAMES = 100_000;
    private static final String TOO_MANY = "more than %d directories are watched in the sandbox: watch a part of them"
            .formatted(Watches.MOST_DIRECTORIES);

    private final Watch watch;
    private final WatchWish wish;
    private final FileTree files;
    private final WatchHub hub;
    private final Watches watches;
    private final Folder top;
    private long inode;

    /// A directory on its way from one name to another.
    private @Nullable Folder moving;

    private int cookie;

    WatchedTree(Watch watch, WatchWish wish, FileTree files, WatchHub hub, Watches watches) {
        this.watch = watch;
        this.wish = wish;
        this.files = files;
        this.hub = hub;
        this.watches = watches;
        this.top = new Folder(watch, null, "");
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

    void handle(Watch.Raw raw) throws IOException {
        var folder = raw.folder();
        if (moving != null && (raw.mask() != Inotify.MOVED_TO || raw.cookie() != cookie)) {
            drop(moving);
            moving = null;
        }
        if (folder.gone()) {
            return;
        }
        switch (raw.mask()) {
            case Inotify.CREATE -> appeared(raw);
            case Inotify.MOVED_TO -> arrived(raw);
            case Inotify.MOVED_FROM -> left(raw);
            case Inotify.DELETE -> {
                folder.found().remove(raw.name());
                watch.tell(folder.path(raw.name()), Change.Kind.REMOVE);
            }
            case Inotify.MODIFY -> tell(raw, Change.Kind.WRITE);
            case Inotify.ATTRIB -> tell(raw, Change.Kind.CHMOD);
            case Inotify.DELETE_SELF, Inotify.UNMOUNT -> tell(raw, Change.Kind.REMOVE);
            case Inotify.MOVE_SELF -> tell(raw, Change.Kind.RENAME);
            case Inotify.IGNORED -> {
                folder.leave();
                drop(folder);
            }
            case Watch.LOOKED -> folder.found().clear();
            default -> {}
        }
    }

    /// Of a directory that is watched for its parent's sake, the parent tells.
    private void tell(Watch.Raw raw, Change.Kind kind) {
        if (!raw.name().isEmpty()) {
            watch.tell(raw.folder().path(raw.name()), kind);
        } else if (raw.folder().isTop()) {
            watch.tell(".", kind);
        }
    }

    private void appeared(Watch.Raw raw) throws IOException {
        var folder = raw.folder();
        boolean known = folder.found().remove(raw.name());
        if (known && folder.foundWasTold()) {
            return;
        }
        watch.tell(folder.path(raw.name()), Change.Kind.CREATE);
        if (raw.directory() && wish.recursive() && !known) {
            adopt(new Folder(watch, folder, raw.name()), true);
        }
    }

    private void left(Watch.Raw raw) {
        var folder = raw.folder();
        folder.found().remove(raw.name());
        watch.tell(folder.path(raw.name()), Change.Kind.RENAME);
        var child = folder.children().get(raw.name());
        if (child != null) {
            child.leave();
        }
        moving = child;
        cookie = raw.cookie();
    }

    private void arrived(Watch.Raw raw) throws IOException {
        var folder = raw.folder();
        watch.tell(folder.path(raw.name()), Change.Kind.CREATE);
        if (moving != null) {
            var moved = moving;
            moving = null;
            moved.moveTo(folder, raw.name());
            adoptMissed(moved);
        } else if (raw.directory() && wish.recursive()) {
            // If it was moved away before we could look, all in it is news.
            adopt(new Folder(watch, folder, raw.name()), raw.cookie() == cookie);
        }
    }

    private void adoptMissed(Folder folder) throws IOException {
        var names = List.copyOf(folder.missed());
        folder.missed().clear();
        for (String name : names) {
            adopt(new Folder(watch, folder, name), true);
        }
        for (var child : List.copyOf(folder.children().values())) {
            adoptMissed(child);
        }
    }

    /// Watches the directory, and all below it if that is wanted.
    ///
    /// @param tell whether what is in it already is news: it was made before we could look
    /// @return false if it is not there any more
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
                    watch.tell(folder.path(name), Change.Kind.CREATE);
                }
                if (isDirectory && folder.depth() < MAX_DEPTH) {
                    todo.addLast(new Folder(watch, folder, name));
                }
            });
        }
        // What was found and will be told by the kernel, too, has been told when this mark is reached.
        hub.catchUp();
        looked.forEach(folder -> watch.accept(new Watch.Raw(folder, Watch.LOOKED, false, 0, "")));
        return first.number() >= 0 && !first.gone();
    }

    /// What is in the directory, by name, and whether it is a directory; null if it is not there any more.
    private @Nullable SortedMap<String, Boolean> look(Folder folder) throws IOException {
        if (!watches.takeDirectory()) {
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
                watches.giveDirectory();
            } else if (entries == null) {
                drop(folder);
            }
        }
        return entries;
    }

    /// On a file thread. Opened anew each time: a directory that is kept open does not tell of its own end.
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
                watches.giveDirectory();
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
