package dev.cay.node.egress;

import dev.cay.node.linux.DescriptorIo;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/// Empty pipes that are kept for the next relay: a connection has one only while it moves bytes. Thread-safe.
final class Pipes implements AutoCloseable {
    private static final int KEPT = 64;

    private final ConcurrentLinkedDeque<DescriptorIo.Pipe> empty = new ConcurrentLinkedDeque<>();
    private final AtomicInteger kept = new AtomicInteger();
    private volatile boolean closed;

    DescriptorIo.Pipe take() throws IOException {
        var pipe = empty.pollLast();
        if (pipe == null) {
            return DescriptorIo.pipe();
        }
        kept.decrementAndGet();
        return pipe;
    }

    /// Takes an empty one back.
    void give(DescriptorIo.Pipe pipe) {
        if (closed || kept.incrementAndGet() > KEPT) {
            kept.decrementAndGet();
            drop(pipe);
            return;
        }
        empty.addLast(pipe);
        if (closed) {
            close();
        }
    }

    /// Closes a pipe that still has bytes in it.
    static void drop(DescriptorIo.Pipe pipe) {
        pipe.readEnd().close();
        pipe.writeEnd().close();
    }

    @Override
    public void close() {
        closed = true;
        for (var pipe = empty.pollLast(); pipe != null; pipe = empty.pollLast()) {
            drop(pipe);
        }
    }
}
