package dev.cay.server.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Lets so many run at once and makes the others wait in order: a hundred starts at once finish sooner one after the
/// other than all together, and so do a hundred pauses, which all want the same disk.
public final class ConcurrencyLimit {
    private static final int MOST_WAITING = 1000;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /// One that was let in; closing lets in the next.
    public interface Turn extends AutoCloseable {
        @Override
        void close();
    }

    private final String what;
    private final Semaphore running;
    private final Semaphore room;
    private final Duration limit;

    /// @param what is said to those who get no turn, before the reason
    ConcurrencyLimit(String what, int atOnce, int waiting, Duration limit) {
        this.what = what;
        this.running = new Semaphore(atOnce, true);
        this.room = new Semaphore(atOnce + waiting);
        this.limit = limit;
    }

    /// Of sandboxes that begin or go on.
    public static ConcurrencyLimit starting() {
        return new ConcurrencyLimit("Failed to place sandbox", 2 * cpus(), MOST_WAITING, LIMIT);
    }

    /// Of sandboxes that are saved.
    public static ConcurrencyLimit saving() {
        return new ConcurrencyLimit("The sandbox goes on", cpus(), MOST_WAITING, LIMIT);
    }

    public Turn take() {
        if (!room.tryAcquire()) {
            throw busy("too many others wait for their turn");
        }
        boolean entered = false;
        try {
            entered = running.tryAcquire(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for a turn", e);
        } finally {
            if (!entered) {
                room.release();
            }
        }
        if (!entered) {
            throw busy("it was not its turn within %d seconds".formatted(limit.toSeconds()));
        }
        return () -> {
            running.release();
            room.release();
        };
    }

    private static int cpus() {
        return Runtime.getRuntime().availableProcessors();
    }

    private CayException busy(String message) {
        return new CayException(ErrorKind.UNAVAILABLE, what + ": " + message + "; try again later");
    }
}
