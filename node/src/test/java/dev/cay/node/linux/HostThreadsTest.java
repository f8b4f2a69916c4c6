package dev.cay.node.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
@Fast
class HostThreadsTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final HostThreads threads = new HostThreads("test", 1, 2);

    @AfterEach
    void close() {
        threads.close();
    }

    private static boolean hang(CountDownLatch until) {
        try {
            return until.await(2, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void replacesAThreadThatDoesNotComeBack() throws IOException {
        var stuck = new CountDownLatch(1);
        assertThatThrownBy(() -> threads.call(SHORT, () -> hang(stuck)))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("did not answer");

        assertThat(threads.call(LIMIT, () -> 5)).isEqualTo(5);
        stuck.countDown();
        assertThat(threads.call(LIMIT, () -> 6)).isEqualTo(6);
    }

    @Test
    void neverUsesATaintedThreadAgain() throws IOException {
        long first = threads.call(LIMIT, () -> Thread.currentThread().threadId());
        assertThatThrownBy(() -> threads.call(LIMIT, () -> {
                    throw new HostThreads.Tainted(new IOException("lost"));
                }))
                .isInstanceOf(HostThreads.Tainted.class);

        assertThat(threads.call(LIMIT, () -> Thread.currentThread().threadId())).isNotEqualTo(first);
    }

    @Test
    void closesAResultWhoseCallerHasLeft() throws Exception {
        var leave = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        assertThatThrownBy(() -> threads.call(SHORT, () -> {
                    hang(leave);
                    return (AutoCloseable) closed::countDown;
                }))
                .isInstanceOf(CayException.class);
        leave.countDown();
        assertThat(closed.await(1, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void refusesCallersWhenTooManyWait() throws Exception {
        var stuck = new CountDownLatch(1);
        var begun = new CountDownLatch(1);
        threads.run(() -> {
            begun.countDown();
            return hang(stuck);
        });
        assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
        threads.run(() -> true);
        threads.run(() -> true);
        assertThatThrownBy(() -> threads.call(LIMIT, () -> 1)).hasMessageContaining("too much work");
        stuck.countDown();
    }

    @Test
    void leavesThreadsForOthersHoweverMuchOneOwnerAsksFor() throws Exception {
        try (var four = new HostThreads("shared", 4, 100);
                var asking = Executors.newVirtualThreadPerTaskExecutor()) {
            var greedy = four.shareOf(() -> "greedy");
            var stuck = new CountDownLatch(1);
            var running = new AtomicInteger();
            for (int i = 0; i < 20; i++) {
                asking.submit(() -> greedy.call(LIMIT, () -> {
                    running.incrementAndGet();
                    return hang(stuck);
                }));
            }
            Await.until("the greedy one has its threads", () -> running.get() >= 2);
            assertThat(four.shareOf(() -> "modest").call(LIMIT, () -> 1)).isEqualTo(1);
            assertThat(four.shareOf(() -> "other").call(LIMIT, () -> 2)).isEqualTo(2);
            assertThat(running.get()).isEqualTo(2);
            stuck.countDown();
        }
    }

    @Test
    void keepsPlacesInTheQueueForOthers() throws Exception {
        try (var two = new HostThreads("shared", 2, 10);
                var asking = Executors.newVirtualThreadPerTaskExecutor()) {
            var greedy = two.shareOf(() -> "greedy");
            var stuck = new CountDownLatch(1);
            var refused = new AtomicInteger();
            for (int i = 0; i < 30; i++) {
                asking.submit(() -> {
                    try {
                        return greedy.call(LIMIT, () -> hang(stuck));
                    } catch (CayException e) {
                        refused.incrementAndGet();
                        throw e;
                    }
                });
            }
            Await.until("most of what is too much is refused", () -> refused.get() >= 20);
            assertThat(two.shareOf(() -> "modest").call(LIMIT, () -> 1)).isEqualTo(1);
            stuck.countDown();
        }
    }

    @Test
    void givesAnOwnerWhoseWorkHangsNoMoreThreads() throws Exception {
        try (var four = new HostThreads("shared", 4, 100)) {
            var hanging = four.shareOf(() -> "hanging");
            var stuck = new CountDownLatch(1);
            for (int i = 0; i < 4; i++) {
                assertThatThrownBy(() -> hanging.call(SHORT, () -> hang(stuck))).hasMessageContaining("did not answer");
            }
            assertThatThrownBy(() -> hanging.call(LIMIT, () -> 1)).hasMessageContaining("too much work");
            assertThat(four.shareOf(() -> "modest").call(LIMIT, () -> 1)).isEqualTo(1);
            stuck.countDown();
            Await.until("it gets threads when its own have come back", () -> {
                try {
                    return hanging.call(LIMIT, () -> true);
                } catch (CayException e) {
                    assertThat(e).hasMessageContaining("too much work");
                    return false;
                }
            });
        }
    }
}
