package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
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
/// As in E2B, clients act as the sandbox's root: a user only decides where a path starts and who owns new files. Keeps
/// the sandbox's file systems busy: close it before a checkpoint and before the sandbox's disk is removed.
public final class FileTree implements AutoCloseable {
    /// Work in an open directory.
    public interface DirectoryAction<T extends @Nullable Object> {
        T run(Descriptor directory) throws IOException;
    }

    private static final Duration LONG_LIMIT = Duration.ofMinutes(5);
    private static final int MAX_DEPTH = 256;

    private final FileWork work;
    private final Accounts accounts;
    private final Entries entries;
    private final FileMaker maker;

    private FileTree(Descriptor root, int uidBase, HostThreads.Share threads) {
        this.work = new FileWork(root, uidBase, threads);
        this.accounts = new Accounts(work);
        this.entries = new Entries(work, accounts);
        this.maker = new FileMaker(root, uidBase);
    }

    /// @param pid     of the sandbox's pid 1, as the host sees it
    /// @param uidBase first host uid of the sandbox
    /// @param threads for file work, as far as its owner may have them
    public static FileTree open(long pid, int uidBase, HostThreads.Share threads) throws IOException {
        return open("/proc/%d/root".formatted(pid), uidBase, threads);
    }

    /// @param directory the root that clients see
    public static FileTree open(String directory, int uidBase, HostThreads.Share threads) throws IOException {
        return threads.call(FileWork.LIMIT, () -> {
            var root = FileCalls.open(directory, FileCalls.PATH | FileCalls.DIRECTORY, 0);
            return new FileTree(root, uidBase, threads);
        });
    }

    public Optional<Account> findAccount(String name) throws IOException {
        return work.asRoot(() -> accounts.find(name));
    }

    /// Opens a regular file for reading.
    public OpenFile read(SandboxPath path) throws IOException {
        return work.run(path, Account.ROOT, () -> work.openRegular(path.text()));
    }

    /// Opens a file for writing from its start; makes it, and its parent directories, for the user.
    ///
    /// @param metadata replaces the file's metadata
    public NewFile write(SandboxPath path, Account user, Map<String, String> metadata) throws IOException {
        return work.run(path, user, () -> {
            maker.makeParents(path, user);
            var file = openForWriting(path, user);
            try {
                Metadata.write(file, metadata);
                return new NewFile(work, path, file, user);
            } catch (ErrnoException | RuntimeException e) {
                file.close();
                throw e;
            }
        });
    }

    /// Joins files into one, in this order, for the user, and removes them. No reader sees it half made.
    public void compose(List<SandboxPath> sources, SandboxPath destination, Account user) throws IOException {
        new Composition(work, maker, user).run(sources, destination);
    }

    public Entry stat(SandboxPath path) throws IOException {
        return entries.stat(path);
    }

    /// The entries of the directory down to `depth`; parents before children, by name. More than a hundred thousand
    /// entries are refused.
    ///
    /// @param large called once when there are so many entries that their memory should be accounted for; gets the
    ///              bytes they may need, and may refuse by throwing
    public List<Entry> list(SandboxPath path, int depth, LongConsumer large) throws IOException {
        return work.run(path, Account.ROOT, () -> {
            accounts.refresh();
            try (var directory = openDirectory(path);
                    var listing = new DirectoryListing(entries, large, FileWork.LIMIT)) {
                listing.add(path, directory, Math.clamp(depth, 1, MAX_DEPTH));
                return listing.entries();
            }
        });
    }

    /// Runs the action with the directory open, as the sandbox's root and on a file thread.
    public <T extends @Nullable Object> T inDirectory(SandboxPath path, DirectoryAction<T> action) throws IOException {
        return work.run(path, Account.ROOT, () -> {
            try (var directory = openDirectory(path)) {
                return action.run(directory);
            }
        });
    }

    private Descriptor openDirectory(SandboxPath path) throws IOException {
        return FileCalls.openInRoot(work.root(), path.text(), FileCalls.DIRECTORY | FileWork.OPEN_FLAGS, 0);
    }

    /// Makes the directory with its parents; false when it was there.
    public boolean makeDirectory(SandboxPath path, Account user) throws IOException {
        return work.run(path, user, () -> maker.makeDirectory(path, user));
    }

    public void move(SandboxPath from, SandboxPath to, Account user) throws IOException {
        work.run(from, user, () -> {
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

    /// Removes a file, or a directory with its content; a missing one is no error.
    public void remove(SandboxPath path) throws IOException {
        if (path.isRoot()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the root cannot be removed");
        }
        var removal = new TreeRemoval(LONG_LIMIT);
        boolean done = false;
        while (!done) {
            done = work.run(path, Account.ROOT, () -> {
                try (var parent = maker.openDirectory(path.parent())) {
                    FileSystems.requireDisk(parent);
                    return removal.removeSome(parent, path.name());
                } catch (ErrnoException e) {
                    if (e.errno() != Errno.ENOENT) {
                        throw FileErrors.ofChange("remove", path, e);
                    }
                    return true;
                }
            });
        }
    }

    @Override
    public void close() {
        work.close();
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
}
