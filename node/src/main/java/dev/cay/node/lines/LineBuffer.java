package dev.cay.node.lines;

import java.net.ProtocolException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Makes lines of what comes out of a pipe. Used by one thread.
public final class LineBuffer implements AutoCloseable {
    /// Receives a line, which counts as held until this returns.
    public interface Sink {
        void line(byte[] line) throws ProtocolException, InterruptedException;
    }

    private static final int USUAL = 8 << 10;

    /// Most empty lines in a row; a process that sends more only wants to keep the node busy.
    private static final int MOST_EMPTY = 10_000;

    /// How long a long line may take to arrive, and to be read while others wait for its memory.
    private static final Duration FAIR = Duration.ofSeconds(30);

    private final LongLines room;
    private byte[] rest = new byte[USUAL];
    private int length;
    private int tiers;
    private int blank;
    private long since;

    LineBuffer(LongLines room) {
        this.room = room;
    }

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
        empty();
        since = System.nanoTime();
        try {
            if (line.length > 0) {
                blank = 0;
                sink.line(line);
            } else if (++blank > MOST_EMPTY) {
                throw new ProtocolException("more than %d empty lines in a row".formatted(MOST_EMPTY));
            }
        } finally {
            leave();
        }
    }

    private void append(byte[] bytes, int from, int count) throws ProtocolException, InterruptedException {
        int wanted = length + count;
        if (wanted > LongLines.LIMIT) {
            throw new ProtocolException("a line is longer than 32 MiB");
        }
        requireInTime();
        for (int needed; (needed = room.enter(wanted, tiers)) > tiers; ) {
            tiers = needed;
            since = System.nanoTime();
        }
        if (wanted > rest.length) {
            rest = Arrays.copyOf(rest, Math.min(LongLines.LIMIT, Math.max(wanted, rest.length * 2)));
        }
        System.arraycopy(bytes, from, rest, length, count);
        length = wanted;
    }

    private void requireInTime() throws ProtocolException {
        if (isLong() && System.nanoTime() - since > FAIR.toNanos()) {
            throw new ProtocolException("a line took too long to come");
        }
    }

    /// When the next bytes of a long line must have arrived; null while there is none.
    @Nullable
    Duration patience() {
        return isLong() ? FAIR : null;
    }

    /// The bytes of an unfinished line.
    byte[] begun() {
        return Arrays.copyOf(rest, length);
    }

    public boolean isLong() {
        return tiers > 0;
    }

    /// Whether other lines have waited too long for the memory of the line that is being delivered.
    public boolean isOverdue() {
        return isLong() && System.nanoTime() - since > FAIR.toNanos() && room.isWanted(tiers);
    }

    private void empty() {
        length = 0;
        if (isLong()) {
            rest = new byte[USUAL];
        }
    }

    private void leave() {
        room.leave(tiers);
        tiers = 0;
    }

    @Override
    public void close() {
        empty();
        leave();
    }
}
