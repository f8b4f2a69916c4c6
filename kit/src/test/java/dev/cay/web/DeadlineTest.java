package dev.cay.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Fast
@Timeout(60)
final class DeadlineTest {
    @Test
    void closesWhatIsStillInUseAndNothingElse() throws Exception {
        var late = new CountDownLatch(1);
        var inTime = new CountDownLatch(1);
        var cancelled = Deadline.start(Duration.ofMillis(20), inTime::countDown);
        cancelled.close();
        try (var deadline = Deadline.start(Duration.ofMillis(50), late::countDown)) {
            assertThat(late.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(deadline.passed()).isTrue();
        }
        // A busy machine may let the short time pass before the cancel; then both say so.
        assertThat(inTime.getCount() == 0).isEqualTo(cancelled.passed());
    }
}
