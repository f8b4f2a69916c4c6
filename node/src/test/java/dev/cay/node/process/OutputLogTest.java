package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class OutputLogTest {
    private static final int SEGMENT = 64 << 10;
    private static final String A = "a".repeat(SEGMENT);

    @TempDir
    private Path directory;

    private static void put(OutputLog log, String text) throws Exception {
        if (log.room() < text.length()) {
            log.rotate();
        }
        log.put(text.getBytes(UTF_8), text.length());
        log.advance(text.length());
    }

    private LogSpace space(int streams) {
        return new LogSpace(directory, 4L * SEGMENT, streams);
    }

    @Test
    void keepsTheNewestSegmentsUnderTheirOffsets() throws Exception {
        try (var log = new OutputLog(space(1), Channel.STDOUT)) {
            for (int i = 0; i < 7; i++) {
                put(log, A);
            }
            put(log, "ABCDE");
            assertThat(log.oldest()).isEqualTo(3 * SEGMENT);
            assertThat(log.end()).isEqualTo(7 * SEGMENT + 5);
            assertThat(directory.toFile().list()).hasSize(5).contains("stdout." + 3 * SEGMENT);
            assertThat(log.read(7 * SEGMENT - 2, 100)).isEqualTo("aa".getBytes(UTF_8));
            assertThat(log.read(7 * SEGMENT, 100)).isEqualTo("ABCDE".getBytes(UTF_8));
            assertThatThrownBy(() -> log.read(3 * SEGMENT - 1, 1)).isInstanceOf(NoSuchFileException.class);
        }
    }

    /// A pump may be about to do so on another thread when its sandbox ends.
    @Test
    void opensNothingAfterItWasClosed() throws Exception {
        var log = new OutputLog(space(1), Channel.STDOUT);
        put(log, "first");
        log.close();
        log.rotate();
        assertThat(log.room()).isZero();
        assertThat(directory.toFile().list()).containsExactly("stdout.0");
        assertThat(log.read(0, 100)).isEqualTo("first".getBytes(UTF_8));
    }

    @Test
    void aLoudStreamTakesTheRoomOfASilentOneButNotItsNewest() throws Exception {
        var space = space(2);
        try (var loud = new OutputLog(space, Channel.STDOUT);
                var silent = new OutputLog(space, Channel.STDERR)) {
            put(silent, "quiet");
            for (int i = 0; i < 9; i++) {
                put(loud, A);
            }
            assertThat(directory.toFile().list()).hasSize(6);
            assertThat(loud.oldest()).isEqualTo(4 * SEGMENT);
            assertThat(silent.read(0, 100)).isEqualTo("quiet".getBytes(UTF_8));
            put(silent, A);
            put(silent, A);
            assertThat(directory.toFile().list()).hasSize(6);
            assertThat(silent.oldest()).isEqualTo(5);
            assertThat(loud.oldest()).isEqualTo(5 * SEGMENT);
        }
    }

    @Test
    void findsItsEndAgain() throws Exception {
        try (var log = new OutputLog(space(1), Channel.PTY)) {
            put(log, A);
            put(log, "abc");
        }
        var space = space(1);
        try (var log = new OutputLog(space, Channel.PTY)) {
            OutputLog.recover(space, List.of(log));
            assertThat(log.end()).isEqualTo(SEGMENT + 3);
            put(log, "def");
            assertThat(log.read(SEGMENT, 100)).isEqualTo("abcdef".getBytes(UTF_8));
        }
    }

    @Test
    void splicesFromAPipeAtTheRightPlace() throws Exception {
        var pipe = DescriptorIo.pipe();
        try (var in = pipe.readEnd();
                var log = new OutputLog(space(2), Channel.STDERR)) {
            put(log, "before ");
            DescriptorIo.write(pipe.writeEnd(), "after".getBytes(UTF_8), 0, 5);
            int moved = log.take(in, 100);
            log.advance(moved);
            assertThatThrownBy(() -> log.take(in, 100))
                    .isInstanceOfSatisfying(
                            ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EAGAIN));
            pipe.writeEnd().close();
            assertThat(log.take(in, 100)).isZero();
            assertThat(Files.readString(directory.resolve("stderr.0"))).isEqualTo("before after");
        }
    }
}
