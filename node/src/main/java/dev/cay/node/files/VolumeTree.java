package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.EntryCalls;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.VolumeContent;
import dev.cay.wire.node.VolumeEntry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The files of one volume, which sandboxes may change at any time.
///
/// Paths are resolved as if the volume were the root, so no link leads out. A file is first opened with O_PATH, and
/// changed through that descriptor: a link that replaces it meanwhile is not followed, and no pipe or device is ever
/// opened. Each call opens the volume for itself.
public final class VolumeTree implements VolumeContent {
    private static final Duration REMOVE_LIMIT = Duration.ofMinutes(5);
    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;
    private static final int MOST_ENTRIES = 20_000;

    private final Path directory;
    private final HostThreads.Share threads;

    /// @param threads for file work, as far as the volume's owner may have them
    public VolumeTree(Path directory, HostThreads.Share threads) {
        this.directory = directory;
        this.threads = threads;
    }

    private interface Action<T extends @Nullable Object> {
        T run(FileWork work) throws IOException;
    }

    /// Runs the action with the volume's root open, for a user, on the caller's thread.
    private <T extends @Nullable Object> T with(Action<T> action) {
        try (var work = open()) {
            return action.run(work);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the volume cannot be used now: " + e.getMessage(), e);
        }
    }

    private FileWork open() throws IOException {
        var root = threads.call(
                FileWork.LIMIT, () -> FileCalls.open(directory.toString(), FileCalls.PATH | FileCalls.DIRECTORY, 0));
        return new FileWork(root, 0, threads);
    }

    @Override
    public VolumeEntry stat(String text) {
        var path = SandboxPath.of(text);
        return with(work -> work.run(path, Account.ROOT, () -> {
            if (path.isRoot()) {
                return entry(path, FileCalls.stat(work.root()), null);
            }
            try (var parent = parent(work, path)) {
                return entry(path, parent);
            }
        }));
    }

    @Override
    public List<VolumeEntry> list(String text, int depth) {
        var path = SandboxPath.of(text);
        return with(work -> work.run(path, Account.ROOT, () -> {
            var entries = new ArrayList<VolumeEntry>();
            int flags = FileCalls.DIRECTORY | FileWork.OPEN_FLAGS;
            try (var start = FileCalls.openInRoot(work.root(), path.text(), flags, 0)) {
                list(path, start, depth, entries);
            }
            return entries;
        }));
    }

    private static void list(SandboxPath path, Descriptor place, int depth, List<VolumeEntry> entries)
            throws IOException {
        var names = new ArrayList<>(FileCalls.names(place, MOST_ENTRIES + 1));
        if (entries.size() + names.size() > MOST_ENTRIES) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "more than %d entries: list a part of them, or run `find` in a sandbox".formatted(MOST_ENTRIES));
        }
        names.sort(null);
        for (String name : names) {
            try {
                var entry = entry(path.child(name), place);
                entries.add(entry);
                if (depth > 1 && entry.type() == VolumeEntry.Type.DIRECTORY) {
                    int flags = FileCalls.DIRECTORY | FileWork.OPEN_FLAGS;
                    try (var below = FileCalls.openEntry(place, name, flags, false)) {
                        list(path.child(name), below, depth - 1, entries);
                    }
                }
            } catch (ErrnoException e) {
                // It was removed, or became something else, meanwhile.
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR && e.errno() != Errno.ELOOP) {
                    throw e;
                }
            }
        }
    }

    @Override
    public VolumeEntry makeDirectory(String text, Rights rights, boolean force) {
        var path = SandboxPath.of(text);
        var user = user(rights);
        return with(work -> work.run(path, user, () -> {
            if (path.isRoot()) {
                requireForced(force, path);
                return entry(path, FileCalls.stat(work.root()), null);
            }
            if (force) {
                maker(work).makeParents(path, user);
            }
            try (var parent = parent(work, path)) {
                return made(parent, path, rights, force);
            }
        }));
    }

    private static VolumeEntry made(Descriptor parent, SandboxPath path, Rights rights, boolean force)
            throws IOException {
        try {
            FileCalls.makeDirectory(parent, path.name(), 0700);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            var there = entry(path, parent);
            requireForced(force && there.type() == VolumeEntry.Type.DIRECTORY, path);
            return there;
        }
        try (var made = FileCalls.openEntry(parent, path.name(), FileCalls.DIRECTORY | FileWork.OPEN_FLAGS, false)) {
            apply(made, new Rights(zero(rights.uid()), zero(rights.gid()), or(rights.mode(), DIRECTORY_MODE)));
            return entry(path, FileCalls.stat(made), null);
        }
    }

    private static void requireForced(boolean forced, SandboxPath path) {
        if (!forced) {
            throw new CayException(ErrorKind.ALREADY_EXISTS, "path '%s' already exists".formatted(path));
        }
    }

    @Override
    public Content read(String text) {
        var path = SandboxPath.of(text);
        var file = with(work -> work.run(path, Account.ROOT, () -> work.openRegular(path.text())));
        return new Content() {
            @Override
            public long size() {
                return file.size();
            }

            @Override
            public InputStream stream() {
                return file.stream(0, file.size());
            }

            @Override
            public void close() {
                file.close();
            }
        };
    }

    /// A file that is open for writing.
    private record Target(Descriptor file, long inode, boolean fresh) {}

    @Override
    public VolumeEntry write(String text, Rights rights, boolean force, InputStream content) throws IOException {
        var path = SandboxPath.of(text);
        var user = user(rights);
        try (var work = open()) {
            var target = work.run(path, user, () -> target(work, path, user, force));
            try (var file = target.file()) {
                copy(work, path, user, content, file);
                return work.run(path, user, () -> {
                    DescriptorIo.sync(file);
                    apply(file, rights);
                    return entry(path, FileCalls.stat(file), null);
                });
            } catch (IOException | RuntimeException e) {
                if (target.fresh()) {
                    discard(work, path, target, e);
                }
                throw e;
            }
        }
    }

    private static Target target(FileWork work, SandboxPath path, Account user, boolean force) throws IOException {
        if (path.isRoot()) {
            throw new ErrnoException("open", Errno.EISDIR);
        }
        if (force) {
            maker(work).makeParents(path, user);
        }
        int flags = FileCalls.WRITE | FileWork.OPEN_FLAGS;
        try {
            var file = FileCalls.openInRoot(
                    work.root(), path.text(), flags | FileCalls.CREATE | FileCalls.EXCLUSIVE, 0600);
            var status = FileCalls.stat(file);
            apply(file, new Rights(user.uid(), user.gid(), FILE_MODE));
            return new Target(file, status.inode(), true);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            requireForced(force, path);
        }
        try (var named = FileCalls.openInRoot(work.root(), path.text(), FileCalls.PATH, 0)) {
            var status = FileCalls.stat(named);
            FileWork.requireRegular(path.text(), status);
            var file = FileCalls.reopen(named, flags);
            DescriptorIo.truncate(file, 0);
            return new Target(file, status.inode(), false);
        }
    }

    private static void copy(FileWork work, SandboxPath path, Account user, InputStream content, Descriptor file)
            throws IOException {
        byte[] some = new byte[OpenFile.CHUNK];
        long position = 0;
        for (int count = content.read(some); count >= 0; count = content.read(some)) {
            long at = position;
            int length = count;
            work.run(path, user, () -> {
                for (int done = 0; done < length; ) {
                    done += DescriptorIo.pwrite(file, some, done, length - done, at + done);
                }
                return null;
            });
            position += length;
        }
    }

    /// Discards a new file, unless another file has its name by now.
    private static void discard(FileWork work, SandboxPath path, Target target, Exception failure) {
        try {
            work.run(path, Account.ROOT, () -> {
                try (var parent = parent(work, path)) {
                    var there = FileCalls.find(parent, path.name());
                    if (there != null && there.inode() == target.inode()) {
                        FileCalls.removeFile(parent, path.name());
                    }
                }
                return null;
            });
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    @Override
    public VolumeEntry change(String text, Rights rights) {
        var path = SandboxPath.of(text);
        return with(work -> work.run(path, Account.ROOT, () -> {
            try (var named = FileCalls.openInRoot(work.root(), path.text(), FileCalls.PATH | FileCalls.NOFOLLOW, 0)) {
                var status = FileCalls.stat(named);
                if (!status.regular() && !status.directory()) {
                    throw new CayException(
                            ErrorKind.INVALID_ARGUMENT, "path '%s' is neither a file nor a directory".formatted(path));
                }
                try (var file = FileCalls.reopen(named, FileCalls.READ | FileWork.OPEN_FLAGS)) {
                    apply(file, rights);
                    return entry(path, FileCalls.stat(file), null);
                }
            }
        }));
    }

    @Override
    public void remove(String text) {
        var path = SandboxPath.of(text);
        if (path.isRoot()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the root of a volume cannot be removed; delete the volume");
        }
        with(work -> {
            boolean done = work.run(path, Account.ROOT, () -> {
                try (var parent = parent(work, path)) {
                    FileCalls.stat(parent, path.name());
                }
                return false;
            });
            var removal = new TreeRemoval(REMOVE_LIMIT);
            while (!done) {
                done = work.run(path, Account.ROOT, () -> removeSome(work, path, removal));
            }
            return null;
        });
    }

    /// Others get their turns before the next part.
    private static boolean removeSome(FileWork work, SandboxPath path, TreeRemoval removal) throws IOException {
        try (var parent = parent(work, path)) {
            return removal.removeSome(parent, path.name());
        } catch (ErrnoException e) {
            if (e.errno() == Errno.ENOENT) {
                return true;
            }
            throw e;
        }
    }

    private static FileMaker maker(FileWork work) {
        return new FileMaker(work.root(), 0);
    }

    private static Descriptor parent(FileWork work, SandboxPath path) throws ErrnoException {
        return FileCalls.openInRoot(work.root(), path.parent().text(), FileCalls.PATH | FileCalls.DIRECTORY, 0);
    }

    private static Account user(Rights rights) {
        return new Account("", zero(rights.uid()), zero(rights.gid()), "/", "", List.of());
    }

    private static int zero(@Nullable Integer id) {
        return or(id, 0);
    }

    private static int or(@Nullable Integer value, int usual) {
        return Objects.requireNonNullElse(value, usual);
    }

    /// The owner first: a change of owner takes set-id bits away.
    private static void apply(Descriptor file, Rights rights) throws ErrnoException {
        if (rights.uid() != null || rights.gid() != null) {
            var now = FileCalls.stat(file);
            FileCalls.setOwner(file, or(rights.uid(), now.uid()), or(rights.gid(), now.gid()));
        }
        if (rights.mode() != null) {
            FileCalls.setMode(file, rights.mode());
        }
    }

    /// An entry of a directory; of a link itself.
    private static VolumeEntry entry(SandboxPath path, Descriptor parent) throws ErrnoException {
        var status = FileCalls.stat(parent, path.name());
        return entry(path, status, status.symlink() ? EntryCalls.readLink(parent, path.name()) : null);
    }

    private static VolumeEntry entry(SandboxPath path, FileStatus status, @Nullable String target) {
        var type = status.directory()
                ? VolumeEntry.Type.DIRECTORY
                : status.regular()
                        ? VolumeEntry.Type.FILE
                        : status.symlink() ? VolumeEntry.Type.SYMLINK : VolumeEntry.Type.UNKNOWN;
        return new VolumeEntry(
                path.name(),
                type,
                path.text(),
                status.size(),
                status.permissions(),
                status.uid(),
                status.gid(),
                status.accessed(),
                status.modified(),
                status.changed(),
                target);
    }
}
