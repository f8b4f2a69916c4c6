package dev.cay.node.linux;

/// The error numbers on which Cay's code decides; they are the same on all supported CPUs.
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int ENXIO = 6;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOBUFS = 105;
    public static final int EACCES = 13;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int ENOTTY = 25;
    public static final int ETXTBSY = 26;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;
    public static final int EMLINK = 31;
    public static final int EPIPE = 32;
    public static final int ERANGE = 34;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ENOTEMPTY = 39;
    public static final int ELOOP = 40;
    public static final int ENODATA = 61;
    public static final int EOPNOTSUPP = 95;
    public static final int ECONNREFUSED = 111;
    public static final int EINPROGRESS = 115;
    public static final int EDQUOT = 122;

    private Errno() {}

    /// The text of `strerror`, for errors that users see.
    public static String text(int errno) {
        return switch (errno) {
            case EPERM -> "operation not permitted";
            case ENOENT -> "no such file or directory";
            case ESRCH -> "no such process";
            case EIO -> "input/output error";
            case EBADF -> "bad file descriptor";
            case EAGAIN -> "resource temporarily unavailable";
            case EACCES -> "permission denied";
            case EBUSY -> "device or resource busy";
            case EEXIST -> "file exists";
            case EXDEV -> "invalid cross-device link";
            case ENOTDIR -> "not a directory";
            case EISDIR -> "is a directory";
            case EINVAL -> "invalid argument";
            case EMFILE -> "too many open files";
            case ETXTBSY -> "text file busy";
            case EFBIG -> "file too large";
            case ENOSPC -> "no space left on device";
            case EROFS -> "read-only file system";
            case EMLINK -> "too many links";
            case EPIPE -> "broken pipe";
            case ENAMETOOLONG -> "file name too long";
            case ENOTEMPTY -> "directory not empty";
            case ELOOP -> "too many levels of symbolic links";
            case EOPNOTSUPP -> "operation not supported";
            case ECONNREFUSED -> "connection refused";
            case EDQUOT -> "disk quota exceeded";
            default -> "errno " + errno;
        };
    }
}
