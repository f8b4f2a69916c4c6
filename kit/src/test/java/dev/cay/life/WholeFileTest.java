package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@Fast
class WholeFileTest {
    private static final int TIMES = 200;
    private static final int SIZE = 1 << 20;

    @TempDir
    private Path directory;

    /// What a reader finds at any moment is what a writer killed at that moment would leave.
    @Test
    void isNeverSeenHalfWritten() throws Exception {
        Path file = directory.resolve("file");
        WholeFile.write(file, filledWith(0));
        var writing = CompletableFuture.runAsync(() -> {
            for (int i = 1; i <= TIMES; i++) {
                write(file, i);
            }
        });
        while (!writing.isDone()) {
            byte[] found = Files.readAllBytes(file);
            assertThat(found.length).isEqualTo(SIZE);
            assertThat(found[SIZE - 1]).isEqualTo(found[0]);
        }
        writing.join();
        assertThat(Files.readAllBytes(file)).isEqualTo(filledWith(TIMES));
        assertThat(directory.toFile().list()).containsExactly("file");
    }

    private static void write(Path file, int value) {
        try {
            WholeFile.write(file, filledWith(value));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] filledWith(int value) {
        byte[] bytes = new byte[SIZE];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
