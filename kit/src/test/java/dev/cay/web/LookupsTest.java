package dev.cay.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Names that nobody answers for.
@Fast
@Timeout(240)
final class LookupsTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final List<InetAddress> FOUND = List.of(InetAddress.ofLiteral("192.0.2.1"));

    private static List<InetAddress> after(CountDownLatch end) {
        try {
            end.await();
            return FOUND;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whoseNamesHangHoldsUpNobodyElse() throws Exception {
        var end = new CountDownLatch(1);
        var begun = new CountDownLatch(4 * 8);
        try (var lookups = new Lookups();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 40; i++) {
                String owner = "hostile" + i % 4;
                Future<?> _ = threads.submit(() -> lookups.call(LONG, owner, () -> {
                    begun.countDown();
                    return after(end);
                }));
            }
            Await.until("each hostile one has all threads that it gets", begun);
            assertThat(lookups.call(LONG, "other", () -> FOUND)).isEqualTo(FOUND);
            assertThat(lookups.call(LONG, null, () -> FOUND)).isEqualTo(FOUND);
            end.countDown();
        }
    }

    /// The resolver goes on after the caller has left, so its thread counts until it comes back.
    @Test
    void aLookupThatIsLeftCountsUntilItEnds() throws Exception {
        var end = new CountDownLatch(1);
        try (var lookups = new Lookups()) {
            var soon = Duration.ofMillis(1);
            for (int i = 0; i < 12; i++) {
                assertThatThrownBy(() -> lookups.call(soon, "hostile", () -> after(end)))
                        .isInstanceOf(SocketTimeoutException.class);
            }
            assertThatThrownBy(() -> lookups.call(Duration.ofMillis(100), "hostile", () -> FOUND))
                    .isInstanceOf(SocketTimeoutException.class);
            end.countDown();
            assertThat(lookups.call(LONG, "hostile", () -> FOUND)).isEqualTo(FOUND);
        }
    }

    @Test
    void whoAsksForTooManyIsRefusedAtOnce() throws Exception {
        var end = new CountDownLatch(1);
        var begun = new CountDownLatch(8);
        try (var lookups = new Lookups();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 100; i++) {
                Future<?> _ = threads.submit(() -> lookups.call(LONG, "hostile", () -> {
                    begun.countDown();
                    return after(end);
                }));
            }
            Await.until("it has all threads that it gets", begun);
            Await.until("as many wait as may", () -> {
                try {
                    lookups.call(Duration.ofMillis(1), "hostile", () -> FOUND);
                    throw new AssertionError("it got one thread more");
                } catch (SocketTimeoutException e) {
                    return false;
                } catch (CayException e) {
                    assertThat(e).hasMessageContaining("too many names are being looked up");
                    return true;
                }
            });
            assertThat(lookups.call(LONG, "other", () -> FOUND)).isEqualTo(FOUND);
            end.countDown();
        }
    }
}
