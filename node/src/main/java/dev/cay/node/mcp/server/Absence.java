package dev.cay.node.mcp.server;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Whether a server is suspended with its sandbox. While it is, callers block until it resumes. Thread-safe.
final class Absence {
    /// How long callers wait: a resume takes less, and a sandbox that is not back by then will be away for long.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String server;
    private volatile @Nullable CountDownLatch away;

    Absence(String server) {
        this.server = server;
    }

    void begin() {
        away = new CountDownLatch(1);
    }

    boolean isOn() {
        return away != null;
    }

    void end() {
        var latch = away;
        away = null;
        if (latch != null) {
            latch.countDown();
        }
    }

    void awaitEnd() {
        var latch = away;
        try {
            if (latch != null && !latch.await(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw stillAway();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "no request waits for server %s any more".formatted(server), e);
        }
    }

    CayException stillAway() {
        return new CayException(ErrorKind.UNAVAILABLE, "server %s is paused with its sandbox".formatted(server));
    }
}
