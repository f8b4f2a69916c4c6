package dev.cay.server.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class RingFileTest {
    /// Room for 36 bytes in a block, for 20 blocks in the file, for 5 of one key.
    private static final RingLimits LIMITS = new RingLimits(100, 2000, 500, Duration.ofHours(1));

    @TempDir
    Path directory;

    private Instant now = Instant.ofEpochSecond(1_800_000_000);
    private final InstantSource clock = () -> now;

    @Test
    void keepsWhatWasAppendedInOrderAlsoForAnotherProcess() {
        try (var ring = open()) {
            for (int i = 0; i < 9; i++) {
                append(ring, "a", "a-line-no-" + i);
                append(ring, "b", "b-line-no-" + i);
            }
            assertThat(text(ring, "a")).startsWith("a-line-no-0a-line-no-1").endsWith("a-line-no-8");
        }
        try (var ring = open()) {
            append(ring, "a", "more");
            assertThat(text(ring, "a")).startsWith("a-line-no-0").endsWith("a-line-no-8more");
            assertThat(text(ring, "b")).startsWith("b-line-no-0").endsWith("b-line-no-8");
            assertThat(text(ring, "c")).isEmpty();
        }
    }

    /// Not closed, as a process that was killed would leave it.
    @Test
    void losesNothingWhenItsProcessIsKilled() {
        var left = open();
        append(left, "a", "told");
        assertThat(text(left, "a")).isEqualTo("told");
        try (var ring = open()) {
            assertThat(text(ring, "a")).isEqualTo("told");
        }
        left.close();
    }

    @Test
    void neverGrowsBeyondItsLimitAndForgetsTheOldestFirst() throws IOException {
        try (var ring = open()) {
            for (int key = 0; key < 100; key++) {
                append(ring, "key" + key, "a line of key " + key);
            }
            assertThat(text(ring, "key99")).isEqualTo("a line of key 99");
            assertThat(text(ring, "key80")).isEqualTo("a line of key 80");
            assertThat(text(ring, "key79")).isEmpty();
        }
        assertThat(Files.size(directory.resolve("ring"))).isEqualTo(2000);
        try (var ring = open()) {
            assertThat(text(ring, "key80")).isEqualTo("a line of key 80");
            assertThat(text(ring, "key79")).isEmpty();
        }
    }

    @Test
    void letsNoKeyTakeThePlaceOfOthers() throws IOException {
        try (var ring = open()) {
            append(ring, "quiet", "still here");
            for (int i = 0; i < 1000; i++) {
                append(ring, "loud", "line %04d;".formatted(i));
            }
            assertThat(text(ring, "quiet")).isEqualTo("still here");
            assertThat(text(ring, "loud"))
                    .hasSize(4 * 30 + 10)
                    .startsWith("line 0987;")
                    .endsWith("line 0999;");
        }
        assertThat(Files.size(directory.resolve("ring"))).isEqualTo(600);
    }

    @Test
    void usesOldBlocksAgainBeforeItGrows() throws IOException {
        try (var ring = open()) {
            append(ring, "old", "long ago");
            assertThat(text(ring, "old")).isEqualTo("long ago");
            now = now.plus(Duration.ofHours(2));
            append(ring, "new", "today");
            assertThat(text(ring, "old")).isEmpty();
        }
        assertThat(Files.size(directory.resolve("ring"))).isEqualTo(100);
    }

    @Test
    void leavesOutWhatACrashOfTheMachineTore() throws IOException {
        try (var ring = open()) {
            append(ring, "a", "whole");
            append(ring, "b", "torn");
        }
        try (var file = new RandomAccessFile(directory.resolve("ring").toFile(), "rw")) {
            file.seek(100 + Blocks.HEADER);
            file.write("x".getBytes(StandardCharsets.US_ASCII));
        }
        try (var ring = open()) {
            assertThat(text(ring, "a")).isEqualTo("whole");
            assertThat(text(ring, "b")).isEmpty();
            append(ring, "b", "anew");
            assertThat(text(ring, "b")).isEqualTo("anew");
        }
        assertThat(Files.size(directory.resolve("ring"))).isEqualTo(200);
    }

    /// Commands of users are in it.
    @Test
    void isOnlyForItsOwner() throws IOException {
        try (var ring = open()) {
            append(ring, "a", "a command");
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("ring"))))
                .isEqualTo("rw-------");
    }

    @Test
    void countsWhatTheDiskDoesNotTake() {
        try (var ring = open()) {
            append(ring, "a", "x".repeat(37));
            assertThat(text(ring, "a")).isEmpty();
            assertThat(ring.dropped()).isEqualTo(1);
        }
    }

    private RingFile open() {
        return new RingFile(directory.resolve("ring"), LIMITS, clock);
    }

    private static void append(RingFile ring, String key, String text) {
        ring.append(key, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(RingFile ring, String key) {
        return ring.read(key).stream()
                .map(bytes -> new String(bytes, StandardCharsets.US_ASCII))
                .collect(Collectors.joining());
    }
}
