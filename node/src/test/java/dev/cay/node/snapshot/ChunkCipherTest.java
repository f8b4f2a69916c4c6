package dev.cay.node.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What was sealed is opened as it was, or not at all.
@Fast
class ChunkCipherTest {
    private static final int PIECE = ChunkCipher.CHUNK + ChunkCipher.TAG;

    private final ChunkCipher cipher = new ChunkCipher(new SecureRandom());

    private static byte[] content(int length) {
        byte[] content = new byte[length];
        new Random(7).nextBytes(content);
        return content;
    }

    private static byte[] seal(ChunkCipher with, byte[] content) throws IOException {
        var sealed = new ByteArrayOutputStream();
        try (var out = with.seal(sealed)) {
            // In parts that do not meet the borders of chunks.
            for (int from = 0; from < content.length; from += 100_003) {
                out.write(content, from, Math.min(100_003, content.length - from));
            }
        }
        return sealed.toByteArray();
    }

    private byte[] open(byte[] sealed) throws IOException {
        try (var in = cipher.open(new ByteArrayInputStream(sealed))) {
            return in.readAllBytes();
        }
    }

    private void assertRefused(byte[] sealed) {
        assertThatThrownBy(() -> open(sealed)).isInstanceOf(IOException.class).hasMessageContaining("not as it was");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, ChunkCipher.CHUNK - 1, ChunkCipher.CHUNK, ChunkCipher.CHUNK + 1, 3 * ChunkCipher.CHUNK})
    void opensWhatItSealed(int length) throws IOException {
        byte[] sealed = seal(cipher, content(length));
        assertThat(open(sealed)).isEqualTo(content(length));
        assertThat(sealed.length)
                .isEqualTo(length + ChunkCipher.TAG * Math.max(1, Math.ceilDiv(length, ChunkCipher.CHUNK)));
    }

    @Test
    void hidesIt() throws IOException {
        byte[] sealed = seal(cipher, new byte[2 * ChunkCipher.CHUNK]);
        byte[] first = Arrays.copyOf(sealed, ChunkCipher.CHUNK);
        assertThat(first).isNotEqualTo(new byte[ChunkCipher.CHUNK]);
        assertThat(Arrays.copyOfRange(sealed, PIECE, PIECE + ChunkCipher.CHUNK)).isNotEqualTo(first);
    }

    @Test
    void refusesWhatWasChanged() throws IOException {
        byte[] sealed = seal(cipher, content(2 * ChunkCipher.CHUNK + 5));
        for (int at : new int[] {0, PIECE - 1, PIECE, PIECE + 1000, sealed.length - 1}) {
            byte[] changed = sealed.clone();
            changed[at] ^= 1;
            assertRefused(changed);
        }
    }

    @Test
    void refusesWhatWasCutOff() throws IOException {
        byte[] sealed = seal(cipher, content(3 * ChunkCipher.CHUNK));
        for (int length : new int[] {0, 5, PIECE - 1, PIECE, 2 * PIECE, 2 * PIECE + 1, 3 * PIECE - 1}) {
            assertRefused(Arrays.copyOf(sealed, length));
        }
    }

    @Test
    void refusesWhatWasAddedOrMoved() throws IOException {
        byte[] sealed = seal(cipher, content(3 * ChunkCipher.CHUNK));
        assertRefused(Arrays.copyOf(sealed, sealed.length + 1));

        byte[] twice = Arrays.copyOf(sealed, sealed.length + PIECE);
        System.arraycopy(sealed, 2 * PIECE, twice, 3 * PIECE, PIECE);
        assertRefused(twice);

        byte[] swapped = sealed.clone();
        System.arraycopy(sealed, 0, swapped, PIECE, PIECE);
        System.arraycopy(sealed, PIECE, swapped, 0, PIECE);
        assertRefused(swapped);

        assertRefused(Arrays.copyOfRange(sealed, PIECE, sealed.length));
    }

    @Test
    void refusesWhatAnotherSealed() throws IOException {
        assertRefused(seal(new ChunkCipher(new SecureRandom()), content(10)));
    }

    @Test
    void sealsOneStreamOnly() throws IOException {
        seal(cipher, content(10));
        assertThatThrownBy(() -> seal(cipher, content(10))).isInstanceOf(IllegalStateException.class);
    }
}
