package dev.cay.node.linux;

import java.util.concurrent.atomic.AtomicInteger;

/// A file descriptor with one owner.
///
/// Calls on it and `close` may race: the number is given back to the kernel only when the last call under way has
/// returned, so no call ever lands on a stranger that got the same number.
public final class Descriptor implements AutoCloseable {
    private static final NativeCall CLOSE = NativeCall.of("close");
    private static final int CLOSED = 1 << 30;

    private final int number;
    private final AtomicInteger uses = new AtomicInteger();

    /// Takes a number that nobody else will close.
    Descriptor(long number) {
        this.number = Math.toIntExact(number);
    }

    /// For messages and `/proc/self/fd`; calls go through {@link #use}.
    public int number() {
        return number;
    }

    public boolean closed() {
        return uses.get() >= CLOSED;
    }

    /// Keeps the number from being given back until {@link #done}.
    int use(String call) throws ErrnoException {
        int before = uses.getAndUpdate(n -> n >= CLOSED ? n : n + 1);
        if (before >= CLOSED) {
            throw new ErrnoException(call, Errno.EBADF);
        }
        return number;
    }

    void done() {
        if (uses.decrementAndGet() == CLOSED) {
            release();
        }
    }

    @Override
    public void close() {
        int before = uses.getAndUpdate(n -> n >= CLOSED ? n : n + CLOSED);
        if (before == 0) {
            release();
        }
    }

    private void release() {
        try {
            CLOSE.call(number);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EBADF) {
                throw new IllegalStateException("descriptor %d was closed by a stranger".formatted(number), e);
            }
            // Linux has let go of the number whatever else it says.
        }
    }

    @Override
    public String toString() {
        return "fd " + number;
    }
}
