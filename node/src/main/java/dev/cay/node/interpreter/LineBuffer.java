package dev.cay.node.interpreter;

import java.net.ProtocolException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Makes lines of what comes out of a pipe. Long ones of all sandboxes together never fill the memory: they wait for
/// each other, while the runners that want to write them wait too. Used by one thread.
final class LineBuffer implements AutoCloseable {
    /// Who gets a line.
    interface Sink {
        void line(byte[] line) throws ProtocolException, InterruptedException;
    }

    private static final int LONG = 1 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SENT_WITHIN = Duration.ofSeconds(30);

    /// A long line is there as bytes, and again in what is made of it.
    private static final int COPIES = 3;

    private static final Semaphore LONG_LINES = new Semaphore(
            (int) Math.max(1, Runtime.getRuntime().maxMemory() / 4 / ((long) Dialect.LINE_LIMIT * COPIES)), true);

    private byte[] rest = new byte[8 << 10];
    private int length;
    private boolean isLong;
    private long longSince;

    void add(byte[] bytes, int count, Sink sink) throws ProtocolException, InterruptedException {
        int from = 0;
        for (int at = 0; at < count; at++) {
            if (bytes[at] == '\n') {
                append(bytes, from, at - from);
                from = at + 1;
                deliver(sink);
            }
        }
        append(bytes, from, count - from);
    }

    private void deliver(Sink sink) throws ProtocolException, InterruptedException {
        byte[] line = Arrays.copyOf(rest, length);
        length = 0;
        try {
            if (line.length > 0) {
                sink.line(line);
            }
        } finally {
            shrink();
        }
    }

    private void append(byte[] bytes, int from, int count) throws ProtocolException, InterruptedException {
        int wanted = length + count;
        if (wanted > Dialect.LINE_LIMIT) {
            throw new ProtocolException("a runner's line is longer than 32 MiB");
        }
        if (wanted > LONG) {
            growLong();
        }
        if (wanted > rest.length) {
            rest = Arrays.copyOf(rest, Math.min(Dialect.LINE_LIMIT, Math.max(wanted, rest.length * 2)));
        }
        System.arraycopy(bytes, from, rest, length, count);
        length = wanted;
    }

    private void growLong() throws ProtocolException, InterruptedException {
        if (isLong) {
            if (System.nanoTime() - longSince > SENT_WITHIN.toNanos()) {
                throw new ProtocolException("a runner took too long for a line");
            }
            return;
        }
        if (!LONG_LINES.tryAcquire(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ProtocolException("too many runners send long lines");
        }
        isLong = true;
        longSince = System.nanoTime();
    }

    /// When the next of a long line must have come; null while there is none.
    @Nullable
    Duration patience() {
        return isLong ? SENT_WITHIN : null;
    }

    private void shrink() {
        if (isLong) {
            isLong = false;
            rest = new byte[8 << 10];
            LONG_LINES.release();
        }
    }

    @Override
    public void close() {
        length = 0;
        shrink();
    }
}
