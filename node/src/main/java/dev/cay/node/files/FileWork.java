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
import org.jspecify.annotations.Nullable;

/// Work on the files of one sandbox: on threads that may block, and with the rights of one of its users. Thread-safe.
///
/// @param root    of the sandbox; closed with this
/// @param uidBase first host uid of the sandbox
/// @param threads as far as the owner of the files may have them
record FileWork(Descriptor root, int uidBase, HostThreads.Share threads) implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);
    static final int OPEN_FLAGS = FileCalls.NONBLOCK | FileCalls.NOCTTY;
    private static final int UIDS = 65_536;

    /// Runs an action as the user.
    ///
    /// @param path for error messages
    <T extends @Nullable Object> T run(SandboxPath path, Account user, HostThreads.Action<T> action)
            throws IOException {
        return run(LIMIT, path, user, action);
    }

    <T extends @Nullable Object> T run(Duration limit, SandboxPath path, Account user, HostThreads.Action<T> action)
            throws IOException {
        try {
            return threads.call(limit, () -> FileIdentity.as(uidBase + user.uid(), uidBase + user.gid(), action));
        } catch (ErrnoException e) {
            if (root.closed()) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped", e);
            }
            throw FileErrors.of(path, e);
        }
    }

    /// Runs an action as the sandbox's root, and passes errors of the kernel to the caller.
    <T> T asRoot(HostThreads.Action<T> action) throws IOException {
        return threads.call(LIMIT, () -> FileIdentity.as(uidBase, uidBase, action));
    }

    /// Opens a regular file, on a file thread, first with O_PATH: opening a pipe or a device has effects.
    OpenFile openRegular(String path) throws IOException {
        try (var named = FileCalls.openInRoot(root, path, FileCalls.PATH, 0)) {
            var status = FileCalls.stat(named);
            requireRegular(path, status);
            requireReadable(named, status);
            return new OpenFile(path, FileCalls.reopen(named, FileCalls.READ | OPEN_FLAGS), status, threads);
        }
    }

    /// Reads the attributes of a file, on a file thread, without opening it.
    FileStatus status(String path) throws IOException {
        try (var named = FileCalls.openInRoot(root, path, FileCalls.PATH, 0)) {
            return FileCalls.stat(named);
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

    /// Refuses files of kernel interfaces that the node could read and the sandbox's root could not.
    private void requireReadable(Descriptor file, FileStatus status) throws ErrnoException {
        boolean foreign = Integer.compareUnsigned(status.uid() - uidBase, UIDS) >= 0;
        if (foreign && (status.permissions() & 4) == 0 && FileSystems.isLever(file)) {
            throw new ErrnoException("open", Errno.EACCES);
        }
    }

    @Override
    public void close() {
        root.close();
    }
}
