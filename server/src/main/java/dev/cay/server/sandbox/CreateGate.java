package dev.cay.server.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Lets so many creates run at once and makes the others wait in order: a hundred at once finish sooner one after the
/// other than all together.
final class CreateGate {
    /// One create that was let in; closing lets in the next.
    interface Pass extends AutoCloseable {
        @Override
        void close();
    }

    private final Semaphore running;
    private final Semaphore room;
    private final Duration limit;

    CreateGate(int atOnce, int waiting, Duration limit) {
        this.running = new Semaphore(atOnce, true);
        this.room = new Semaphore(atOnce + waiting);
        this.limit = limit;
    }

    Pass enter() {
        if (!room.tryAcquire()) {
            throw busy("too many sandboxes are being created");
        }
        boolean entered = false;
        try {
            entered = running.tryAcquire(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting to create a sandbox", e);
        } finally {
            if (!entered) {
                room.release();
            }
        }
        if (!entered) {
            throw busy("no turn to create a sandbox within %d seconds".formatted(limit.toSeconds()));
        }
        return () -> {
            running.release();
            room.release();
        };
    }

    private static CayException busy(String message) {
        return new CayException(ErrorKind.UNAVAILABLE, "Failed to place sandbox: " + message + "; try again later");
    }
}
