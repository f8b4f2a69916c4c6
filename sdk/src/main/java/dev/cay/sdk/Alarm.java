package dev.cay.sdk;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Closes a stream that takes too long. The reader gets an exception, and finds the reason here. Closing the alarm
/// switches it off.
final class Alarm implements AutoCloseable {
    private final InputStream stream;
    private final @Nullable ScheduledFuture<?> ringing;
    private volatile boolean rang;

    /// @param limit zero for no limit
    Alarm(ScheduledExecutorService clock, InputStream stream, Duration limit) {
        this.stream = stream;
        this.ringing = limit.isZero() ? null : clock.schedule(this::ring, limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void ring() {
        rang = true;
        closeQuietly(stream);
    }

    static void closeQuietly(InputStream stream) {
        try {
            stream.close();
        } catch (IOException e) {
            // There is nobody left to read it.
        }
    }

    boolean rang() {
        return rang;
    }

    @Override
    public void close() {
        if (ringing != null) {
            ringing.cancel(false);
        }
    }
}
