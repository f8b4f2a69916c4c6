package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class WaitLimitsTest {
    private final WaitLimits limits = new WaitLimits();

    /// A wait that ends when its limit is exceeded, like those of real callers.
    private static final class Limited implements WaitLimits.Wait {
        private final long deadline;
        private final CountDownLatch over = new CountDownLatch(1);

        Limited(Duration limit) {
            deadline = System.nanoTime() + limit.toNanos();
        }

        @Override
        public void look(long now) {
            if (now - deadline >= 0) {
                over.countDown();
            }
        }
    }

    private boolean ends(Limited wait) throws InterruptedException {
        limits.add(wait);
        try {
            return wait.over.await(20, TimeUnit.SECONDS);
        } finally {
            limits.remove(wait);
        }
    }

    @Test
    void endsAWaitWhoseLimitIsExceededAndNoOther() throws InterruptedException {
        var other = new Limited(Duration.ofHours(1));
        limits.add(other);
        assertThat(ends(new Limited(Duration.ofMillis(10)))).isTrue();
        assertThat(other.over.getCount()).isEqualTo(1);
        limits.remove(other);
    }

    @Test
    void looksAgainAfterItsThreadHasEnded() throws InterruptedException {
        assertThat(ends(new Limited(Duration.ZERO))).isTrue();
        // Longer than the thread goes on without a wait.
        Thread.sleep(WaitLimits.PERIOD.multipliedBy(60));
        assertThat(ends(new Limited(Duration.ZERO))).isTrue();
    }
}
