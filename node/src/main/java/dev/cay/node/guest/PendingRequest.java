package dev.cay.node.guest;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A request without an answer yet. Kept after its caller has stopped waiting, because the answer's descriptors must
/// not be taken for the next one's.
final class PendingRequest<T> {
    private static final Duration STEP = Duration.ofMillis(20);

    private final AnswerDecoder<T> decoder;
    private final CountDownLatch done = new CountDownLatch(1);
    private @Nullable T answer;
    private @Nullable IOException failure;
    private boolean left;

    PendingRequest(AnswerDecoder<T> decoder) {
        this.decoder = decoder;
    }

    void decode(Frames.Frame frame, Frames lent) throws IOException {
        @Nullable T decoded = null;
        try {
            decoded = decoder.decode(frame, lent);
            frame.end();
        } catch (IOException e) {
            discard(decoded);
            cancel();
            throw e;
        }
        synchronized (this) {
            if (!left) {
                answer = decoded;
                done.countDown();
                return;
            }
        }
        discard(decoded);
    }

    private static void discard(@Nullable Object decoded) {
        if (decoded instanceof Streams streams) {
            streams.close();
        }
    }

    synchronized void fail(int errno, String what) {
        failure = new GuestException(what, errno);
        done.countDown();
    }

    synchronized void cancel() {
        if (answer == null) {
            failure = new SilentGuestException("the connection to the guest was lost");
        }
        done.countDown();
    }

    T await(Duration limit) throws IOException {
        try {
            boolean _ = done.await(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        return take(limit);
    }

    /// Waits; the caller may give up meanwhile.
    T await(Duration limit, BooleanSupplier gaveUp) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            while (!done.await(STEP.toNanos(), TimeUnit.NANOSECONDS) && System.nanoTime() < deadline) {
                if (gaveUp.getAsBoolean()) {
                    leave();
                    throw new SilentGuestException("the guest is not waited for any more");
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        return take(limit);
    }

    private IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        leave();
        return (IOException) new InterruptedIOException("interrupted").initCause(e);
    }

    private synchronized T take(Duration limit) throws IOException {
        if (failure != null) {
            throw failure;
        }
        if (answer == null) {
            left = true;
            throw new SilentGuestException("the guest did not answer within %d s".formatted(limit.toSeconds()));
        }
        return answer;
    }

    private synchronized void leave() {
        left = true;
        discard(answer);
    }
}
