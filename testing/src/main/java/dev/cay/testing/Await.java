package dev.cay.testing;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Waits for what happens in another thread, process or sandbox.
///
/// The limit is only for what never happens. It is much longer than anything takes on a busy machine, so that no test
/// depends on load.
public final class Await {
    public static final Duration LIMIT = Duration.ofMinutes(3);

    private static final Duration PAUSE = Duration.ofMillis(5);

    /// Something that becomes true.
    public interface Condition {
        boolean holds() throws Exception;
    }

    private Await() {}

    /// @param what what is waited for; the failure names it
    public static void until(String what, Condition condition) {
        until(() -> what, LIMIT, condition);
    }

    /// @param what what is waited for, and how things are; asked after the limit
    public static void until(Supplier<String> what, Condition condition) {
        until(what, LIMIT, condition);
    }

    /// Like {@link #until(String, Condition)}, for what may take longer than other things.
    public static void until(String what, Duration limit, Condition condition) {
        until(() -> what, limit, condition);
    }

    /// Waits until another thread has counted down.
    ///
    /// @param what what is waited for; the failure names it
    public static void until(String what, CountDownLatch latch) {
        try {
            if (!latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("not within %d seconds: %s".formatted(LIMIT.toSeconds(), what));
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while it waited for: " + what, e);
        }
    }

    private static void until(Supplier<String> what, Duration limit, Condition condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!holds(what, condition)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within %d seconds: %s".formatted(limit.toSeconds(), what.get()));
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted while it waited for: " + what.get(), e);
            }
        }
    }

    private static boolean holds(Supplier<String> what, Condition condition) {
        try {
            return condition.holds();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("while the test waited for: " + what.get(), e);
        }
    }
}
