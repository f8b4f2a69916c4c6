package dev.cay.node.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputLogTest {
    @TempDir
    private Path directory;

    private static void put(OutputLog log, String text) throws Exception {
        if (log.room() < text.length()) {
            log.rotate();
        }
        log.put(text.getBytes(UTF_8), text.length());
        log.advance(text.length());
    }

    @Test
    void keepsTheNewestTwoSegmentsUnderTheirOffsets() throws Exception {
        try (var log = new OutputLog(directory, Channel.STDOUT, 10)) {
            for (String text : new String[] {"0123456789", "abcdefghij", "ABCDE"}) {
                put(log, text);
            }
            assertThat(log.oldest()).isEqualTo(10);
            assertThat(log.end()).isEqualTo(25);
            assertThat(directory.toFile().list()).containsExactlyInAnyOrder("stdout.10", "stdout.20");
            assertThat(log.read(18, 100)).isEqualTo("ij".getBytes(UTF_8));
            assertThat(log.read(20, 100)).isEqualTo("ABCDE".getBytes(UTF_8));
            assertThatThrownBy(() -> log.read(9, 1)).isInstanceOf(NoSuchFileException.class);
        }
    }

    @Test
    void findsItsEndAgain() throws Exception {
        try (var log = new OutputLog(directory, Channel.PTY, 10)) {
            put(log, "0123456789");
            put(log, "abc");
        }
        try (var log = new OutputLog(directory, Channel.PTY, 10)) {
            log.recover();
            assertThat(log.end()).isEqualTo(13);
            put(log, "def");
            assertThat(log.read(10, 100)).isEqualTo("abcdef".getBytes(UTF_8));
        }
    }

    @Test
    void splicesFromAPipeAtTheRightPlace() throws Exception {
        var pipe = DescriptorIo.pipe();
        try (var in = pipe.readEnd();
                var log = new OutputLog(directory, Channel.STDERR, 100)) {
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
