package dev.cay.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.ring.RingFile;
import dev.cay.server.ring.RingLimits;
import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class SeriesTest {
    private static final int DAY = 17_280;

    @TempDir
    Path directory;

    @Test
    void givesBackEveryRowAsItWas() {
        var random = new Random(7);
        var rows = new ArrayList<long[]>();
        for (int i = 0; i < 2000; i++) {
            rows.add(new long[] {1_800_000_000L + 5 * i, random.nextInt(10_000), random.nextLong() >> 20, 0, -i});
        }
        try (var series = open()) {
            rows.forEach(row -> series.add(Map.of("a", row)));
            assertThat(series.rows("a", 0, Long.MAX_VALUE)).containsExactlyElementsOf(rows);
            assertThat(series.rows("a", rows.get(10)[0], rows.get(20)[0]))
                    .containsExactlyElementsOf(rows.subList(10, 21));
            series.forget("a");
            series.add(Map.of("a", rows.getLast()));
            assertThat(series.rows("a", rows.getLast()[0], Long.MAX_VALUE)).hasSize(2);
        }
        try (var series = open()) {
            assertThat(series.rows("a", 0, Long.MAX_VALUE)).hasSize(2001);
        }
    }

    /// A thousand sandboxes need a thousand times as much, and that must be less than what the file may take.
    @Test
    void keepsADayOfABusySandboxInLittleRoom() throws Exception {
        var random = new Random(7);
        try (var series = open()) {
            long memory = 20_000;
            long disk = 1_000;
            for (int i = 0; i < DAY; i++) {
                memory += random.nextInt(2000) - 1000;
                disk += random.nextInt(4);
                series.add(Map.of(
                        "busy", new long[] {1_800_000_000L + 5 * i, random.nextInt(10_000), memory, memory / 2, disk}));
            }
            assertThat(series.rows("busy", 0, Long.MAX_VALUE)).hasSize(DAY);
        }
        assertThat(Files.size(directory.resolve("ring"))).isLessThan(192 << 10);
    }

    @Test
    void showsTheHighestOfEachStretchOfALongTime() {
        var rows = new ArrayList<long[]>();
        for (int i = 0; i < DAY; i++) {
            rows.add(new long[] {1_800_000_000L + 5 * i, i == 5000 ? 9999 : 1});
        }
        var thinned = Downsampling.highest(rows);
        assertThat(thinned).hasSizeBetween(500, 1000);
        assertThat(thinned.stream().filter(row -> row[1] == 9999)).hasSize(1);
        assertThat(Downsampling.highest(rows.subList(0, 700))).hasSize(700);
        assertThat(Downsampling.highest(List.of())).isEmpty();
    }

    private Series open() {
        var limits = new RingLimits(1024, 1 << 20, 512 << 10, Duration.ofDays(1));
        return new Series(new RingFile(directory.resolve("ring"), limits, InstantSource.system()), 5);
    }
}
