package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
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
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The files of one sandbox, below the root of its pid 1. Thread-safe.
///
/// As in E2B, clients act as the sandbox's root: a user only decides where a path starts and whom new files belong to.
/// Keeps the sandbox's file systems busy: close it before a checkpoint and before the sandbox's disk is taken away.
public final class FileTree implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);
    static final int OPEN_FLAGS = FileCalls.NONBLOCK | FileCalls.NOCTTY;
    private static final Duration LONG_LIMIT = Duration.ofMinutes(5);
    private static final int MAX_DEPTH = 256;
    private static final int UIDS = 65_536;

    private final Descriptor root;
    private final int uidBase;
    private final HostThreads threads;
    private final Accounts accounts = new Accounts(this);
    private final Entries entries;
    private final FileMaker maker;
    private final Watches watches;

    private FileTree(Descriptor root, int uidBase, HostThreads threads, WatchHub hub) {
        this.root = root;
        this.uidBase = uidBase;
        this.threads = threads;
        this.entries = new Entries(root, uidBase, accounts);
        this.maker = new FileMaker(root, uidBase);
        this.watches = new Watches(this, hub);
    }

    /// @param pid     of the sandbox's pid 1, as the host sees it
    /// @param uidBase first host uid of the sandbox
    /// @param threads for file work; shared by all trees
    /// @param hub     tells of changes; shared by all trees
    public static FileTree open(long pid, int uidBase, HostThreads threads, WatchHub hub) throws IOException {
        return open("/proc/%d/root".formatted(pid), uidBase, threads, hub);
    }

    static FileTree open(String directory, int uidBase, HostThreads threads, WatchHub hub) throws IOException {
        return threads.call(LIMIT, () -> {
            var root = FileCalls.open(directory, FileCalls.PATH | FileCalls.DIRECTORY, 0);
            return new FileTree(root, uidBase, threads, hub);
        });
    }

    public Optional<Account> findAccount(String name) throws IOException {
        return threads.call(LIMIT, () -> asRoot(() -> accounts.find(name)));
    }

    /// Those who want to know of changes.
    public Watches watches() {
        return watches;
    }

    /// Opens a regular file for reading.
    public OpenFile read(SandboxPath path) throws IOException {
        return work(path, Account.ROOT, () -> openRegular(path.text()));
    }

    /// Opens a file for writing from its beginning; makes it, and the directories it lies in, for the user.
    ///
    /// @param metadata replaces what the file had
    public NewFile write(SandboxPath path, Account user, Map<String, String> metadata) throws IOException {
        return work(path, user, () -> {
            maker.makeParents(path, user);
            var file = openForWriting(path, user);
            try {
                Metadata.write(file, metadata);
                return new NewFile(this, path, file, user);
            } catch (ErrnoException | RuntimeException e) {
                file.close();
                throw e;
            }
        });
    }

    /// Puts files together to one, in this order, for the user; then they are gone. Nobody sees it half made.
    public void compose(List<SandboxPath> sources, SandboxPath destination, Account user) throws IOException {
        new Composition(this, maker, user).run(sources, destination);
    }

    public Entry stat(SandboxPath path) throws IOException {
        return work(path, Account.ROOT, () -> {
            accounts.refresh();
            try (var file = FileCalls.openInRoot(root, path.text(), FileCalls.PATH | FileCalls.NOFOLLOW, 0)) {
                return entries.of(path, file);
            }
        });
    }

    /// What lies in the directory, and below it down to `depth`; parents before children, by name.
    /// More than a hundred thousand entries are refused.
    ///
    /// @param large runs once when there are so many entries that their memory should be accounted for; gets how
    ///              many bytes they may come to, and may refuse by throwing
    public List<Entry> list(SandboxPath path, int depth, LongConsumer large) throws IOException {
        return work(path, Account.ROOT, () -> {
            accounts.refresh();
            var listing = new DirectoryListing(entries, large, LIMIT);
            try (var directory = FileCalls.openInRoot(root, path.text(), FileCalls.DIRECTORY | OPEN_FLAGS, 0)) {
                listing.add(path, directory, Math.clamp(depth, 1, MAX_DEPTH));
            }
            return listing.entries();
        });
    }

    /// Makes the directory with its parents; false when it was there.
    public boolean makeDirectory(SandboxPath path, Account user) throws IOException {
        return work(path, user, () -> maker.makeDirectory(path, user));
    }

    public void move(SandboxPath from, SandboxPath to, Account user) throws IOException {
        work(from, user, () -> {
            try (var source = maker.openDirectory(from.parent())) {
                FileCalls.stat(source, from.name());
                maker.makeParents(to, user);
                try (var target = maker.openDirectory(to.parent())) {
                    FileSystems.requireDisk(target);
                    FileSystems.requireDisk(source);
                    FileCalls.rename(source, from.name(), target, to.name());
                }
            } catch (ErrnoException e) {
                throw FileErrors.ofChange("move", from, e);
            }
            return null;
        });
    }

    /// Removes a file, or a directory with all below; what is not there is no error.
    public void remove(SandboxPath path) throws IOException {
        if (path.isRoot()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the root cannot be removed");
        }
        work(LONG_LIMIT, path, Account.ROOT, () -> {
            try (var parent = maker.openDirectory(path.parent())) {
                FileSystems.requireDisk(parent);
                new TreeRemoval(LONG_LIMIT.minusSeconds(10)).remove(parent, path.name());
            } catch (ErrnoException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw FileErrors.ofChange("remove", path, e);
                }
            }
            return null;
        });
    }

    @Override
    public void close() {
        watches.close();
        root.close();
    }

    Descriptor root() {
        return root;
    }

    /// On a file thread. Only named at first: opening is itself an act where somebody waits at a pipe or a device.
    OpenFile openRegular(String path) throws IOException {
        try (var named = FileCalls.openInRoot(root, path, FileCalls.PATH, 0)) {
            var status = FileCalls.stat(named);
            requireRegular(path, status);
            requireReadable(named, status);
            return new OpenFile(path, FileCalls.reopen(named, FileCalls.READ | OPEN_FLAGS), status, threads);
        }
    }

    static void requireRegular(String path, FileStatus status) throws ErrnoException {
        if (status.directory()) {
            throw new ErrnoException("open", Errno.EISDIR);
        }
        if (!status.regular()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "path '%s' is not a regular file".formatted(path));
        }
    }

    /// Among the levers lie files of the host's root, which we could read and the sandbox's root could not.
    private void requireReadable(Descriptor file, FileStatus status) throws ErrnoException {
        boolean foreign = Integer.compareUnsigned(status.uid() - uidBase, UIDS) >= 0;
        if (foreign && (status.permissions() & 4) == 0 && FileSystems.isLever(file)) {
            throw new ErrnoException("open", Errno.EACCES);
        }
    }

    private Descriptor openForWriting(SandboxPath path, Account user) throws IOException {
        try {
            return maker.openEmpty(path, user);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EISDIR) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "path is a directory: " + path, e);
            }
            throw e;
        }
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
            if (root.closed()) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped", e);
            }
            throw FileErrors.of(path, e);
        }
    }

    private <T> T asRoot(HostThreads.Action<T> action) throws IOException {
        return FileIdentity.as(uidBase, uidBase, action);
    }
}
