package dev.cay.node.linux;

import java.io.IOException;

/// A failed system call, with its name and the kernel's error.
public final class ErrnoException extends IOException {
    private final String call;
    private final int errno;

    public ErrnoException(String call, int errno) {
        super(call + ": " + Errno.text(errno));
        this.call = call;
        this.errno = errno;
    }

    public String call() {
        return call;
    }

    /// One of {@link Errno}.
    public int errno() {
        return errno;
    }
}
