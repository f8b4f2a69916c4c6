package dev.cay.proxy;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

/// A connection to a server, with the bytes that were read but not used yet.
///
/// Blocking, as virtual threads make that cheap. Closing it from another thread ends every wait on it.
final class UpstreamConnection implements Closeable {
    private static final int BUFFER = 32 * 1024;
    private static final Duration NEW = Duration.ofSeconds(1);

    private final Upstream upstream;
    private final UpstreamLine line;
    private final ByteBuffer input = ByteBuffer.allocateDirect(BUFFER).flip();
    private final long made = System.nanoTime();
    private volatile long touched = made;
    private volatile boolean cut;
    private volatile boolean pooled;
    private boolean reused;
    private volatile boolean written;

    UpstreamConnection(Upstream upstream, UpstreamLine line) {
        this.upstream = upstream;
        this.line = line;
    }

    Upstream upstream() {
        return upstream;
    }

    /// The bytes that were read and not used yet.
    ByteBuffer input() {
        return input;
    }

    /// Reads more; false at the end. What {@link #input} held must have been used.
    boolean fill() throws IOException {
        input.clear();
        int count;
        try {
            count = line.read(input);
        } finally {
            input.flip();
        }
        touched = System.nanoTime();
        return count >= 0;
    }

    void write(ByteBuffer... buffers) throws IOException {
        do {
            line.write(buffers);
            touched = System.nanoTime();
            written = true;
        } while (anyLeft(buffers));
    }

    void shutdownOutput() throws IOException {
        line.shutdownOutput();
    }

    /// Whether it was made a moment ago and has carried no request: as good as one that would be made in place of it.
    boolean isNew() {
        return !written && System.nanoTime() - made < NEW.toNanos();
    }

    /// Whether the server has neither closed the connection nor sent anything while it was in the pool.
    boolean stillGood() {
        return line.silent();
    }

    void pooled(boolean now) {
        pooled = now;
        reused |= now;
        touched = System.nanoTime();
    }

    boolean pooled() {
        return pooled;
    }

    /// Whether the connection has carried another request before. If so, the server may have closed it meanwhile.
    boolean reused() {
        return reused;
    }

    Duration idle() {
        return Duration.ofNanos(System.nanoTime() - touched);
    }

    /// Closes the connection on purpose, and notes that, so its user does not take it for a failure of the server.
    void cut() {
        cut = true;
        close();
    }

    boolean wasCut() {
        return cut;
    }

    @Override
    public void close() {
        try {
            line.close();
        } catch (IOException e) {
            // The connection is closed already.
        }
    }

    private static boolean anyLeft(ByteBuffer[] buffers) {
        for (ByteBuffer buffer : buffers) {
            if (buffer.hasRemaining()) {
                return true;
            }
        }
        return false;
    }
}
