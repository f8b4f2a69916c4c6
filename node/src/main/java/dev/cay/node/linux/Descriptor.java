package dev.cay.node.linux;

import java.util.concurrent.atomic.AtomicInteger;

/// A file descriptor with one owner.
///
/// Calls on it and `close` may race: the number is returned to the kernel only when the last call in progress has
/// returned, so no call ever hits another file that got the same number.
public final class Descriptor implements AutoCloseable {
    private static final NativeCall CLOSE = NativeCall.of("close");
    private static final int CLOSED = 1 << 30;

    private final int number;
    private final AtomicInteger uses = new AtomicInteger();

    /// Takes over a number that no other code closes.
    Descriptor(long number) {
        this.number = Math.toIntExact(number);
    }

    /// The number, for messages and `/proc/self/fd`; calls go through {@link #use}.
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
            // Linux has released the number whatever close() returns.
        }
    }

    @Override
    public String toString() {
        return "fd " + number;
    }
}
