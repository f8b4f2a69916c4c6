package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class BackgroundTaskTest {
    @Test
    void isDoneWhileItsOwnerGoesOn() {
        var ownerWentOn = new CountDownLatch(1);
        var work = BackgroundTask.begin("work", () -> {
            try {
                ownerWentOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return Thread.currentThread().getName();
        });

        ownerWentOn.countDown();

        assertThat(work.get()).isEqualTo("work");
    }

    @Test
    void failsAsTheWorkDid() {
        var failure = new CayException(ErrorKind.INVALID_ARGUMENT, "no such key");
        var work = BackgroundTask.<String>begin("work", () -> {
            throw failure;
        });

        assertThatThrownBy(work::get).isSameAs(failure);
    }

    @Test
    void workThatIsNotUrgentBeginsWhenItIsAskedForOrAfterItsTime() throws Exception {
        var counted = new AtomicInteger();
        var asked = BackgroundTask.beginLater("asked", Duration.ofHours(1), counted::incrementAndGet);
        assertThat(counted).hasValue(0);
        assertThat(asked.get()).isEqualTo(1);
        assertThat(asked.get()).isEqualTo(1);

        var done = new CountDownLatch(1);
        var _ = BackgroundTask.beginLater("unasked", Duration.ofMillis(1), () -> {
            done.countDown();
            return 0;
        });
        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }
}
