package dev.cay.node.mcp.remote;

import dev.cay.web.Deadline;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The memory of one message while it is received and passed on.
///
/// Small messages are not counted. A server may have one large message at a time, over all its connections, and it must
/// be received within a limit; otherwise its connections together could use up the node's memory.
final class MessageMemory implements AutoCloseable {
    static final int LONGEST = 32 << 20;

    private static final int SMALL = 1 << 20;
    private static final Duration WAIT = Duration.ofMinutes(2);
    private static final Duration COMING = Duration.ofMinutes(1);

    private final Semaphore large;
    private final Closeable source;
    private int taken;
    private boolean held;
    private @Nullable Deadline deadline;

    /// @param source closed when a large message is not completed in time
    MessageMemory(Semaphore large, Closeable source) {
        this.large = large;
        this.source = source;
    }

    void take(int bytes) throws IOException {
        taken += bytes;
        if (taken > LONGEST) {
            throw new IOException("the server sends a message of more than %d MiB".formatted(LONGEST >> 20));
        }
        if (taken > SMALL && !held) {
            hold();
        }
    }

    private void hold() throws IOException {
        try {
            held = large.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!held) {
            throw new IOException("the server sends too many large messages at once");
        }
        deadline = Deadline.start(COMING, source);
    }

    void giveBack(int bytes) {
        taken -= bytes;
    }

    /// The message is complete and is being passed on, which has no limit.
    void complete() {
        if (deadline != null) {
            deadline.close();
            deadline = null;
        }
    }

    void empty() {
        complete();
        taken = 0;
        if (held) {
            held = false;
            large.release();
        }
    }

    @Override
    public void close() {
        empty();
    }
}
