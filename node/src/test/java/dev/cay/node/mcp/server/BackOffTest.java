package dev.cay.node.mcp.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

@Fast
class BackOffTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final BackOff backOff = new BackOff(nanos::get);

    @Test
    void waitsLongerAfterEachFailure() {
        fail();
        assertThatCode(backOff::require).as("once is chance").doesNotThrowAnyException();
        var pauses = new ArrayList<Long>();
        for (int i = 0; i < 9; i++) {
            fail();
            pauses.add(awaitOver());
        }
        assertThat(pauses).isEqualTo(List.of(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L));
    }

    private void fail() {
        backOff.failed(Duration.ofSeconds(1), "it broke");
    }

    private long awaitOver() {
        for (long seconds = 0; ; seconds++) {
            try {
                backOff.require();
                return seconds;
            } catch (RuntimeException e) {
                assertThat(e).hasMessageContaining("it broke");
                nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            }
        }
    }

    @Test
    void forgetsFailuresAfterOneThatWasWellForAMinute() {
        fail();
        fail();
        backOff.lived(Duration.ofSeconds(59));
        assertThatThrownBy(backOff::require).hasMessageContaining("tried again in 1 s");
        backOff.lived(Duration.ofSeconds(60));
        assertThatCode(backOff::require).doesNotThrowAnyException();
        fail();
        assertThatCode(backOff::require).doesNotThrowAnyException();
    }

    @Test
    void anEndAfterSomeUseIsNoFailure() {
        fail();
        backOff.failed(Duration.ofSeconds(20), "it was done");
        assertThatCode(backOff::require).doesNotThrowAnyException();
    }
}
