package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxKind;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How many are kept, told from what was asked for. That they are real sandboxes is shown by `SpareSandboxesTest`.
@Timeout(180)
@Fast
class SparesTest {
    private static final int MOST = 8;
    private static final SandboxKind BASE = kind("base");
    private static final SandboxKind OTHER = kind("other");

    private final AtomicLong now = new AtomicLong(1);
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger made = new AtomicInteger();
    private final Set<SandboxId> living = ConcurrentHashMap.newKeySet();
    private final BlockingQueue<SandboxKind> asked = new LinkedBlockingQueue<>();
    private volatile boolean failing;
    private final Spares spares = new Spares(
            MOST,
            new Maker(),
            () -> waiting.get() > 0,
            kind -> kind.templateId().value().equals("costly"),
            now::get);

    private final class Maker implements Spares.Maker {
        @Override
        public void warm(SandboxKind kind, Runnable then) {
            then.run();
        }

        @Override
        public SandboxId make(SandboxKind kind) {
            asked.add(kind);
            if (failing) {
                throw new CayException(ErrorKind.UNAVAILABLE, "no room");
            }
            var id = new SandboxId(kind.templateId().value() + made.incrementAndGet());
            living.add(id);
            return id;
        }

        @Override
        public void end(SandboxId id) {
            living.remove(id);
            spares.forget(id);
        }

        @Override
        public void close() {
            // Nothing is warmed here.
        }
    }

    private static SandboxKind kind(String template) {
        return new SandboxKind(new TemplateId(template), List.of("layer"), new Resources(1, 128, 64));
    }

    @AfterEach
    void close() {
        spares.close();
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private void awaitCount(int count) {
        Await.until("%d spare sandboxes".formatted(count), () -> {
            pass(Duration.ofMillis(20));
            return spares.count() == count;
        });
    }

    @Test
    void keepsSomeOfWhatIsExpectedAndGivesEachOnce() throws Exception {
        spares.start();
        spares.expect(BASE);
        awaitCount(4);

        var first = spares.reserve(BASE).orElseThrow();
        var second = spares.reserve(BASE).orElseThrow();

        assertThat(first).isNotEqualTo(second);
        assertThat(spares.reserve(OTHER)).isEmpty();
    }

    @Test
    void followsDemandUpAndDown() throws Exception {
        spares.start();
        spares.expect(BASE);
        awaitCount(4);
        for (int i = 0; i < 40; i++) {
            spares.reserve(BASE).ifPresent(spares::forget);
        }
        pass(Duration.ofSeconds(1));
        awaitCount(MOST);

        pass(Duration.ofMinutes(10));
        spares.tidy();

        assertThat(spares.count()).isEqualTo(4);
    }

    @Test
    void keepsNoneOfWhatWasAskedForLongAgo() throws Exception {
        spares.start();
        for (int i = 0; i < 6; i++) {
            spares.reserve(OTHER);
        }
        awaitCount(3);

        pass(Duration.ofMinutes(10));
        spares.tidy();

        assertThat(spares.count()).isZero();
        assertThat(living).isEmpty();
    }

    @Test
    void makesNoneWhileSomebodyWaitsForAStart() throws Exception {
        waiting.set(1);
        spares.start();
        spares.expect(BASE);
        assertThat(asked.poll(100, TimeUnit.MILLISECONDS)).isNull();

        waiting.set(0);
        pass(Duration.ofSeconds(1));

        awaitCount(4);
    }

    @Test
    void waitsLongerAndLongerWhileTheMachineHasNoRoom() throws Exception {
        failing = true;
        spares.start();
        spares.expect(BASE);
        assertThat(asked.poll(1, TimeUnit.MINUTES)).isEqualTo(BASE);
        assertThat(asked.poll(100, TimeUnit.MILLISECONDS)).isNull();

        failing = false;
        pass(Duration.ofSeconds(2));

        awaitCount(4);
    }

    @Test
    void endsThoseThatWereAskedForAndNeverUsed() throws Exception {
        spares.start();
        spares.expect(BASE);
        awaitCount(4);
        var id = spares.reserve(BASE).orElseThrow();

        pass(Duration.ofMinutes(3));
        spares.tidy();

        assertThat(living).doesNotContain(id);
    }

    @Test
    void makesNoneWhereNoneAreWanted() throws Exception {
        try (var none = new Spares(0, new Maker(), () -> false, _ -> false, now::get)) {
            none.start();
            none.expect(BASE);
            assertThat(none.reserve(BASE)).isEmpty();
            assertThat(asked.poll(100, TimeUnit.MILLISECONDS)).isNull();
        }
    }

    @Test
    void keepsFewerOfWhatCostsMuch() throws Exception {
        spares.start();
        spares.expect(kind("costly"));
        awaitCount(2);
        for (int i = 0; i < 40; i++) {
            spares.reserve(kind("costly")).ifPresent(living::remove);
        }
        awaitCount(2);
        spares.expect(BASE);
        awaitCount(6);
    }

    @Test
    void replacesThoseThatWaitWhenBetterOnesCanBeMade() throws Exception {
        spares.start();
        spares.expect(BASE);
        awaitCount(4);
        var old = Set.copyOf(living);
        spares.renew(BASE);
        awaitCount(4);
        assertThat(living).hasSize(4).doesNotContainAnyElementsOf(old);
    }
}
