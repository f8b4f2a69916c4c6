package dev.cay.node.process;

import dev.cay.wire.CayException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The position of one subscriber in a process's output. Used under the lock of its audience.
///
/// Holds offsets, never output. While it is half a log behind, the process waits for it; but where other subscribers
/// wait with the process, only for the time of {@link #PATIENCE}.
final class OutputReader {
    private static final Duration STUCK = Duration.ofMillis(50);

    /// How long one subscriber may keep others waiting in all. Reading earns time back, a second for {@link #PRICE}
    /// bytes.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final long PRICE = 1 << 20;

    private final Map<Channel, Long> positions;
    private final Map<Channel, Long> before = new EnumMap<>(Channel.class);
    /// Output older than the journal is delivered stream by stream, up to these offsets.
    private final Map<Channel, Long> backlog;
    private long run;
    private int runDone;
    private long progressAt = System.nanoTime();
    private long sendingSince;
    private long patience = PATIENCE.toNanos();
    private boolean parked;
    private @Nullable CayException cut;
    private @Nullable Runnable onCut;

    OutputReader(Map<Channel, Long> from, Map<Channel, Long> now, Journal journal) {
        this.positions = new EnumMap<>(from);
        this.backlog = new EnumMap<>(now);
        // The newest run may still grow: its bytes so far are backlog, the rest is new.
        this.run = journal.knows(journal.next() - 1) ? journal.next() - 1 : journal.next();
        this.runDone = journal.knows(run) ? journal.length(run) : 0;
    }

    long position(Channel channel) {
        return positions.getOrDefault(channel, 0L);
    }

    long run() {
        return run;
    }

    /// The stream to read next, or null.
    @Nullable
    Channel choose(Journal journal) {
        for (var entry : backlog.entrySet()) {
            if (position(entry.getKey()) < entry.getValue()) {
                return entry.getKey();
            }
        }
        while (journal.knows(run)) {
            if (runDone < journal.length(run)) {
                return journal.channel(run);
            }
            if (!journal.knows(run + 1)) {
                return null;
            }
            run++;
            runDone = 0;
        }
        return null;
    }

    /// How many bytes of the chosen stream come before another one's turn.
    int available(Channel channel, Journal journal) {
        long old = backlog.getOrDefault(channel, 0L) - position(channel);
        return (int) Math.min(channel.chunk(), old > 0 ? old : journal.length(run) - runDone);
    }

    void advance(Channel channel, int count) {
        before.putAll(positions);
        boolean old = position(channel) < backlog.getOrDefault(channel, 0L);
        positions.merge(channel, (long) count, Long::sum);
        if (!old) {
            runDone += count;
        }
        patience = Math.min(PATIENCE.toNanos(), patience + count * (PATIENCE.toNanos() / PRICE));
        progressAt = System.nanoTime();
    }

    /// Counts the time that others were kept waiting; true when the limit is exceeded.
    boolean pay(Duration held) {
        patience -= held.toNanos();
        return patience <= 0;
    }

    boolean isSending() {
        return sendingSince != 0;
    }

    void beginSending() {
        sendingSince = System.nanoTime();
    }

    void endSending() {
        sendingSince = 0;
    }

    /// Whether a piece is being sent that the client does not take.
    boolean stuck() {
        return sendingSince != 0 && System.nanoTime() - sendingSince > STUCK.toNanos();
    }

    /// The position before the piece that is being sent.
    Map<Channel, Long> before() {
        return before;
    }

    boolean idleFor(Duration limit) {
        return System.nanoTime() - progressAt >= limit.toNanos();
    }

    /// Waits for a client that is expected to come back.
    boolean parked() {
        return parked;
    }

    void park(boolean parked) {
        this.parked = parked;
        progressAt = System.nanoTime();
    }

    void check() {
        if (cut != null) {
            throw new CayException(cut.kind(), cut.userMessage());
        }
    }

    Map<Channel, Long> at() {
        return positions;
    }

    /// @param action runs when this one is cut off
    /// @return whether it was before
    boolean onCut(Runnable action) {
        onCut = action;
        return cut != null;
    }

    /// The action to run outside the lock, unless the subscriber was disconnected before.
    @Nullable
    Runnable cut(CayException reason) {
        if (cut != null) {
            return null;
        }
        cut = reason;
        return onCut;
    }
}
