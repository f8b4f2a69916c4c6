package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileIdentity;
import dev.cay.node.linux.FileStatus;
import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The files of one sandbox, below the root of its pid 1. Thread-safe.
///
/// As in E2B, clients act as the sandbox's root: a user only decides where a path starts and whom new files belong to.
/// Keeps the sandbox's file systems busy: close it before a checkpoint and before the sandbox's disk is taken away.
public final class FileTree implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration LONG_LIMIT = Duration.ofMinutes(5);
    static final int OPEN_FLAGS = FileCalls.NONBLOCK | FileCalls.NOCTTY;
    private static final int MAX_DEPTH = 256;
    private static final int UIDS = 65_536;
    private static final Account ROOT = new Account("root", 0, 0, "/root", "/bin/sh", List.of(0));

    /// File systems whose files are levers of the kernel: proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs,
    /// bpf, configfs, efivarfs, pstore, mqueue, devpts, binfmt_misc, selinux. Nothing is written or made there.
    private static final Set<Long> LEVERS = Set.of(
            0x9fa0L,
            0x62656572L,
            0x27e0ebL,
            0x63677270L,
            0x64626720L,
            0x74726163L,
            0x73636673L,
            0xcafe4a11L,
            0x62656570L,
            0xde5e81e4L,
            0x6165676cL,
            0x19800202L,
            0x1cd1L,
            0x42494e4dL,
            0xf97cff8cL);

    private final Descriptor root;
    private final int uidBase;
    private final HostThreads threads;
    private final Accounts accounts = new Accounts(this);

    private FileTree(Descriptor root, int uidBase, HostThreads threads) {
        this.root = root;
        this.uidBase = uidBase;
        this.threads = threads;
    }

    /// @param pid     of the sandbox's pid 1, as the host sees it
    /// @param uidBase first host uid of the sandbox
    /// @param threads for file work; shared by all trees
    public static FileTree open(long pid, int uidBase, HostThreads threads) throws IOException {
        return open("/proc/%d/root".formatted(pid), uidBase, threads);
    }

    static FileTree open(String directory, int uidBase, HostThreads threads) throws IOException {
        return threads.call(LIMIT, () -> {
            var root = FileCalls.open(directory, FileCalls.PATH | FileCalls.DIRECTORY, 0);
            return new FileTree(root, uidBase, threads);
        });
    }

    public Optional<Account> findAccount(String name) throws IOException {
        return threads.call(LIMIT, () -> asRoot(() -> accounts.find(name)));
    }

    /// Opens a regular file for reading.
    public OpenFile read(SandboxPath path) throws IOException {
        return work(path, ROOT, () -> openRegular(path.text()));
    }

    /// Opens a file for writing from its beginning; makes it, and the directories it lies in, for the user.
    ///
    /// @param metadata replaces what the file had
    public NewFile write(SandboxPath path, Account user, Map<String, String> metadata) throws IOException {
        return work(path, user, () -> {
            makeParents(path, user);
            var file = openForWriting(path, user);
            try {
                Metadata.write(file, metadata);
                return new NewFile(this, path, file, user);
            } catch (ErrnoException e) {
                file.close();
                throw e;
            }
        });
    }

    public Entry stat(SandboxPath path) throws IOException {
        return work(path, ROOT, () -> {
            accounts.refresh();
            try (var file = FileCalls.openInRoot(root, path.text(), FileCalls.PATH | FileCalls.NOFOLLOW, 0)) {
                return entry(path, file);
            }
        });
    }

    /// What lies in the directory, and below it down to `depth`; parents before children, by name.
    /// More than a hundred thousand entries are refused.
    ///
    /// @param large runs once when there are so many entries that their memory should be accounted for; gets how
    ///              many bytes they may come to, and may refuse by throwing
    public List<Entry> list(SandboxPath path, int depth, LongConsumer large) throws IOException {
        return work(path, ROOT, () -> {
            accounts.refresh();
            var listing = new Listing(this, large);
            try (var directory = FileCalls.openInRoot(root, path.text(), FileCalls.DIRECTORY | OPEN_FLAGS, 0)) {
                listing.add(path, directory, Math.clamp(depth, 1, MAX_DEPTH));
            }
            return listing.entries();
        });
    }

    /// Makes the directory with its parents; false when it was there.
    public boolean makeDirectory(SandboxPath path, Account user) throws IOException {
        return work(path, user, () -> {
            try (var file = FileCalls.openInRoot(root, path.text(), FileCalls.PATH, 0)) {
                if (!FileCalls.stat(file).directory()) {
                    throw new CayException(
                            ErrorKind.INVALID_ARGUMENT, "path already exists but it is not a directory: " + path);
                }
                return false;
            } catch (ErrnoException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
            makeParents(path.child("x"), user);
            return true;
        });
    }

    public void move(SandboxPath from, SandboxPath to, Account user) throws IOException {
        work(from, user, () -> {
            try (var source = openDirectory(from.parent())) {
                FileCalls.openEntry(source, from.name(), FileCalls.PATH, true).close();
                makeParents(to, user);
                try (var target = openDirectory(to.parent())) {
                    requireDisk(target);
                    requireDisk(source);
                    FileCalls.rename(source, from.name(), target, to.name());
                }
            }
            return null;
        });
    }

    /// Removes a file, or a directory with all below; what is not there is no error.
    public void remove(SandboxPath path) throws IOException {
        if (path.isRoot()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the root cannot be removed");
        }
        work(LONG_LIMIT, path, ROOT, () -> {
            try (var parent = openDirectory(path.parent())) {
                requireDisk(parent);
                remove(parent, path.name(), 0);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
            return null;
        });
    }

    @Override
    public void close() {
        root.close();
    }

    /// On a file thread.
    OpenFile openRegular(String path) throws IOException {
        var file = FileCalls.openInRoot(root, path, FileCalls.READ | OPEN_FLAGS, 0);
        try {
            var status = FileCalls.stat(file);
            if (status.directory()) {
                throw new ErrnoException("open", Errno.EISDIR);
            }
            requireRegular(path, status);
            requireReadable(file, status);
            return new OpenFile(file, status, threads);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static void requireRegular(String path, FileStatus status) {
        if (!status.regular()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "path '%s' is not a regular file".formatted(path));
        }
    }

    /// Among the levers lie files of the host's root, which we could read and the sandbox's root could not.
    private void requireReadable(Descriptor file, FileStatus status) throws ErrnoException {
        boolean foreign = Integer.compareUnsigned(status.uid() - uidBase, UIDS) >= 0;
        if (foreign && (status.permissions() & 4) == 0 && LEVERS.contains(FileCalls.fileSystem(file))) {
            throw new ErrnoException("open", Errno.EACCES);
        }
    }

    private Descriptor openForWriting(SandboxPath path, Account user) throws IOException {
        try {
            return openOrCreate(path, user);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EISDIR) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "path is a directory: " + path, e);
            }
            throw e;
        }
    }

    private Descriptor openOrCreate(SandboxPath path, Account user) throws IOException {
        boolean fresh = true;
        Descriptor file;
        int flags = FileCalls.WRITE | OPEN_FLAGS;
        try {
            file = FileCalls.openInRoot(root, path.text(), flags | FileCalls.CREATE | FileCalls.EXCLUSIVE, 0644);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            // There is something; a link that leads nowhere gets its target made.
            fresh = false;
            file = FileCalls.openInRoot(root, path.text(), flags | FileCalls.CREATE, 0644);
        }
        try {
            var status = FileCalls.stat(file);
            requireRegular(path.text(), status);
            requireDisk(file);
            own(file, status, user);
            if (fresh) {
                FileCalls.setMode(file, 0644);
            }
            DescriptorIo.truncate(file, 0);
            return file;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void own(Descriptor file, FileStatus status, Account user) throws ErrnoException {
        int uid = uidBase + user.uid();
        int gid = uidBase + user.gid();
        if (status.uid() != uid || status.gid() != gid) {
            FileCalls.setOwner(file, uid, gid);
        }
    }

    private static void requireDisk(Descriptor file) throws ErrnoException {
        if (LEVERS.contains(FileCalls.fileSystem(file))) {
            throw new ErrnoException("write", Errno.EROFS);
        }
    }

    private Descriptor openDirectory(SandboxPath path) throws ErrnoException {
        return FileCalls.openInRoot(root, path.text(), FileCalls.PATH | FileCalls.DIRECTORY, 0);
    }

    private void makeParents(SandboxPath path, Account user) throws IOException {
        try {
            openDirectory(path.parent()).close();
            return;
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
        var at = new SandboxPath("/");
        for (String part : path.parent().parts()) {
            try (var parent = openDirectory(at)) {
                requireDisk(parent);
                FileCalls.makeDirectory(parent, part, 0755);
                try (var made = FileCalls.openEntry(parent, part, FileCalls.DIRECTORY, true)) {
                    own(made, FileCalls.stat(made), user);
                    FileCalls.setMode(made, 0755);
                }
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EEXIST && e.errno() != Errno.EROFS) {
                    throw e;
                }
            }
            at = at.child(part);
        }
    }

    Entry entry(SandboxPath path, Descriptor file) throws IOException {
        var own = FileCalls.stat(file);
        FileStatus target = own;
        String resolved = null;
        if (own.symlink()) {
            resolved = path.text();
            try (var end = FileCalls.openInRoot(root, path.text(), FileCalls.PATH, 0)) {
                target = FileCalls.stat(end);
                resolved = FileCalls.pathOf(end);
            } catch (ErrnoException e) {
                target = own;
            }
        }
        var type = target.directory() ? Entry.Type.DIRECTORY : target.regular() ? Entry.Type.FILE : Entry.Type.OTHER;
        return new Entry(
                path,
                type,
                own.size(),
                target.permissions() & 0777,
                Entry.permissions(own.mode()),
                accounts.userName(own.uid() - uidBase),
                accounts.groupName(own.gid() - uidBase),
                own.modified(),
                resolved,
                own.regular() ? Metadata.read(file) : Map.of());
    }

    /// Never leaves the file system it began on, and follows nothing.
    private static void remove(Descriptor parent, String name, int depth) throws IOException {
        try {
            FileCalls.removeFile(parent, name);
            return;
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EISDIR) {
                throw e;
            }
        }
        if (depth > MAX_DEPTH) {
            throw new CayException(ErrorKind.EXHAUSTED, "directories are nested too deeply");
        }
        try (var directory = FileCalls.openEntry(parent, name, FileCalls.DIRECTORY | OPEN_FLAGS, false)) {
            for (var names = FileCalls.names(directory, 1000); !names.isEmpty(); ) {
                for (String child : names) {
                    remove(directory, child, depth + 1);
                }
                names = FileCalls.names(directory, 1000);
            }
        }
        FileCalls.removeDirectory(parent, name);
    }

    <T extends @Nullable Object> T work(SandboxPath path, Account user, HostThreads.Action<T> action)
            throws IOException {
        return work(LIMIT, path, user, action);
    }

    private <T extends @Nullable Object> T work(
            Duration limit, SandboxPath path, Account user, HostThreads.Action<T> action) throws IOException {
        try {
            return threads.call(limit, () -> FileIdentity.as(uidBase + user.uid(), uidBase + user.gid(), action));
        } catch (ErrnoException e) {
            throw FileErrors.of(path, e);
        }
    }

    private <T> T asRoot(HostThreads.Action<T> action) throws IOException {
        return FileIdentity.as(uidBase, uidBase, action);
    }
}
