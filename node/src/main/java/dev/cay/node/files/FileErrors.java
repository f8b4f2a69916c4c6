package dev.cay.node.files;

import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// The kernel's reasons in a client's words.
final class FileErrors {
    private FileErrors() {}

    static CayException of(SandboxPath path, ErrnoException e) {
        return switch (e.errno()) {
            case Errno.ENOENT -> error(ErrorKind.NOT_FOUND, "path '%s' does not exist".formatted(path), e);
            case Errno.EISDIR -> error(ErrorKind.INVALID_ARGUMENT, "path '%s' is a directory".formatted(path), e);
            case Errno.ENOTDIR -> error(ErrorKind.INVALID_ARGUMENT, "path is not a directory: " + path, e);
            case Errno.ENAMETOOLONG, Errno.EINVAL ->
                error(ErrorKind.INVALID_ARGUMENT, "path '%s': %s".formatted(path, Errno.text(e.errno())), e);
            // The error of opening a pipe without a reader, or a missing terminal.
            case Errno.ENXIO -> error(ErrorKind.INVALID_ARGUMENT, "path '%s' is not a regular file".formatted(path), e);
            case Errno.ELOOP -> error(ErrorKind.CONFLICT, "path '%s': %s".formatted(path, Errno.text(e.errno())), e);
            case Errno.ENOSPC, Errno.EDQUOT -> error(ErrorKind.DISK_FULL, "not enough disk space available", e);
            case Errno.EACCES, Errno.EPERM, Errno.EROFS ->
                error(ErrorKind.PERMISSION_DENIED, "path '%s': %s".formatted(path, Errno.text(e.errno())), e);
            // A process inside renames or holds the file all the time.
            case Errno.EAGAIN -> error(ErrorKind.CONFLICT, "path '%s' is being changed: try again".formatted(path), e);
            case Errno.ETXTBSY ->
                error(ErrorKind.CONFLICT, "path '%s' is a program that runs: it cannot be written".formatted(path), e);
            case Errno.EBUSY, Errno.ENOTEMPTY, Errno.EEXIST, Errno.EXDEV, Errno.EFBIG, Errno.EIO, Errno.EOPNOTSUPP ->
                failed(path.text(), e);
            // It was closed under us.
            case Errno.EBADF -> error(ErrorKind.UNAVAILABLE, "the sandbox is ending", e);
            default -> error(ErrorKind.INTERNAL, "path '%s': %s".formatted(path, e.getMessage()), e);
        };
    }

    /// The error of a move or removal: the file system's message, unless something is missing or full.
    static CayException ofChange(String what, SandboxPath path, ErrnoException e) {
        return switch (e.errno()) {
            case Errno.ENOENT, Errno.ENOSPC, Errno.EDQUOT, Errno.EAGAIN, Errno.EBADF -> of(path, e);
            default -> failed("cannot %s '%s'".formatted(what, path), e);
        };
    }

    private static CayException failed(String what, ErrnoException e) {
        return error(ErrorKind.FAILED, "%s: %s".formatted(what, Errno.text(e.errno())), e);
    }

    private static CayException error(ErrorKind kind, String message, ErrnoException cause) {
        return new CayException(kind, message, cause);
    }
}
