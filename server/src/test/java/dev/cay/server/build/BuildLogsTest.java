package dev.cay.server.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine.Level;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Logs of builds, which any key that may read templates can ask for as often as it likes.
@Fast
final class BuildLogsTest {
    private static final BuildId BUILD = new BuildId("00000000-0000-4000-8000-000000000001");
    private static final TeamId TEAM = new TeamId("team");
    private static final int LINES = 20_000;

    @TempDir
    private Path directory = Path.of("unset");

    private BuildLogs logs = new BuildLogs(Path.of("unset"));

    /// As a daemon finds it that was started anew.
    @BeforeEach
    void writeALongLog() throws Exception {
        var text = new StringBuilder();
        for (int i = 0; i < LINES; i++) {
            text.append("""
                    {"at":"2026-09-21T10:00:00Z","level":"%s","step":null,"message":"line %d %s"}
                    """.formatted(i % 2 == 0 ? "INFO" : "ERROR", i, "x".repeat(1000)));
        }
        Files.writeString(directory.resolve(BUILD.value() + ".jsonl"), text, StandardCharsets.UTF_8);
        logs = new BuildLogs(directory);
    }

    @Test
    void aFewLinesOfALongLogTakeLittleMemory() {
        var forward = new BuildLogs.Search(true, 0, 3, line -> line.level() == Level.ERROR);
        var back = new BuildLogs.Search(false, 0, 3, line -> line.level() == Level.ERROR);
        assertThat(numbers(logs.search(TEAM, BUILD, forward))).containsExactly(1, 3, 5);
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThat(numbers(logs.search(TEAM, BUILD, forward))).containsExactly(1, 3, 5);
        assertThat(numbers(logs.search(TEAM, BUILD, back))).containsExactly(LINES - 1, LINES - 3, LINES - 5);
        assertThat(numbers(logs.read(BUILD, LINES - 2, 100))).containsExactly(LINES - 2, LINES - 1);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .as("of a file of %d MB", LINES / 1000)
                .isLessThan(4 << 20);
    }

    @Test
    void aSearchFindsEveryLineOnceInBothDirections() {
        var all = new BuildLogs.Search(true, 0, Integer.MAX_VALUE, _ -> true);
        var back = new BuildLogs.Search(false, 0, Integer.MAX_VALUE, _ -> true);
        var found = numbers(logs.search(TEAM, BUILD, all));
        assertThat(found).hasSize(LINES).isSorted();
        assertThat(numbers(logs.search(TEAM, BUILD, back))).isEqualTo(found.reversed());
        assertThat(numbers(logs.read(BUILD, 0, Integer.MAX_VALUE))).isEqualTo(found);
        assertThat(numbers(logs.search(
                        TEAM, BUILD, new BuildLogs.Search(true, 9_999, 2, line -> line.level() == Level.ERROR))))
                .containsExactly(19_999);
    }

    @Test
    void onlyAFewSearchesRunAtATime() throws Exception {
        var entered = new Semaphore(0);
        var goOn = new Semaphore(0);
        var inside = new AtomicInteger();
        var most = new AtomicInteger();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < 8; i++) {
            threads.add(Thread.ofVirtual()
                    .start(() -> logs.search(TEAM, BUILD, new BuildLogs.Search(true, 0, 1, _ -> {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        entered.release();
                        goOn.acquireUninterruptibly();
                        inside.decrementAndGet();
                        return true;
                    }))));
        }
        entered.acquire(2);
        assertThat(entered.tryAcquire(200, java.util.concurrent.TimeUnit.MILLISECONDS))
                .as("a third one runs")
                .isFalse();
        goOn.release(8);
        for (var thread : threads) {
            thread.join();
        }
        assertThat(most).hasValue(2);
    }

    @Test
    void aVeryLongLineIsCut() {
        logs.add(BUILD, new BuildLine(Instant.EPOCH, Level.INFO, null, "y".repeat(1 << 20)));
        assertThat(logs.read(BUILD, LINES, 100))
                .singleElement()
                .satisfies(line ->
                        assertThat(line.message()).hasSizeLessThan(20_000).startsWith("yyy"));
    }

    private static List<Integer> numbers(List<BuildLine> lines) {
        return lines.stream()
                .map(line -> Integer.parseInt(line.message().split(" ")[1]))
                .toList();
    }
}
