package dev.cay.node.guest;

import dev.cay.node.linux.Errno;
import java.io.IOException;

/// The guest refused a request: what failed, and the kernel's reason inside.
public final class GuestException extends IOException {
    private final String what;
    private final int errno;

    GuestException(String what, int errno) {
        super(what + ": " + Errno.text(errno));
        this.what = what;
        this.errno = errno;
    }

    /// `chdir`, `exec`, `pid` and so on.
    public String what() {
        return what;
    }

    public int errno() {
        return errno;
    }
}
