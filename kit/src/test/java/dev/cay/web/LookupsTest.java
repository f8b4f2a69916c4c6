package dev.cay.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Names that nobody answers for.
@Fast
@Timeout(60)
final class LookupsTest {
    private static final Duration LONG = Duration.ofSeconds(50);
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
        try (var lookups = new Lookups();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 40; i++) {
                String owner = "hostile" + i % 4;
                Future<?> _ = threads.submit(() -> lookups.call(LONG, owner, () -> after(end)));
            }
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
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> {
                        while (true) {
                            lookups.call(Duration.ofMillis(1), "hostile", () -> FOUND);
                        }
                    })
                    .isInstanceOfAny(CayException.class, SocketTimeoutException.class);
            assertThat(lookups.call(LONG, "other", () -> FOUND)).isEqualTo(FOUND);
            end.countDown();
        }
    }
}
