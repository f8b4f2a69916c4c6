package dev.cay.life;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends waits that exceed their limits, without a timer for each wait. Thread-safe.
///
/// A wait with a timeout of its own schedules a timer and cancels it, and the thread that keeps timers wakes up for
/// both. For a wait that takes less than a millisecond that is more work than the wait itself. Here the waiting thread
/// waits without a timeout, and one thread looks at all waits every few milliseconds. That thread exists only while
/// there are waits.
public final class WaitLimits {
    private static final Logger log = LoggerFactory.getLogger(WaitLimits.class);

    /// A limit is exceeded by at most this time.
    public static final Duration PERIOD = Duration.ofMillis(25);

    /// The thread ends after this many periods without a wait.
    private static final int MOST_QUIET = 40;

    /// Something that a thread waits for.
    public interface Wait {
        /// Called every {@link #PERIOD} until the wait is removed. Must not block.
        ///
        /// @param now by `System.nanoTime()`
        void look(long now);
    }

    private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    /// Adds a wait. {@link #remove} must follow. Waits are compared by identity, so a wait must not be a record.
    public void add(Wait wait) {
        waits.add(wait);
        startLooking();
    }

    public void remove(Wait wait) {
        waits.remove(wait);
    }

    private void startLooking() {
        if (!looking.get() && looking.compareAndSet(false, true)) {
            Thread.ofVirtual().name("wait-limits").start(this::lookAtAll);
        }
    }

    private static void look(Wait wait, long now) {
        try {
            wait.look(now);
        } catch (RuntimeException e) {
            // One failing wait must not keep the others waiting for ever.
            log.atError().setCause(e).log("the limit of a wait could not be enforced");
        }
    }

    private void lookAtAll() {
        for (int quiet = 0; quiet < MOST_QUIET; quiet = waits.isEmpty() ? quiet + 1 : 0) {
            LockSupport.parkNanos(PERIOD.toNanos());
            long now = System.nanoTime();
            waits.forEach(wait -> look(wait, now));
        }
        looking.set(false);
        // A thread may have added a wait after the last look, when it saw this thread still alive.
        if (!waits.isEmpty()) {
            startLooking();
        }
    }
}
