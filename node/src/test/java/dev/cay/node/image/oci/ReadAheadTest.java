package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Fast
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class ReadAheadTest {
    /// More than all buffers together, and no multiple of one.
    private static final int LARGE = (3 << 20) + 123;

    @Test
    void givesTheSameBytes() throws IOException {
        byte[] content = content(LARGE);
        try (var ahead = ReadAhead.start(new ByteArrayInputStream(content))) {
            assertThat(ahead.read()).isEqualTo(content[0] & 0xff);
            assertThat(ahead.readNBytes(511)).isEqualTo(Arrays.copyOfRange(content, 1, 512));
            assertThat(ahead.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, 512, LARGE));
            assertThat(ahead.read()).isEqualTo(-1);
            assertThat(ahead.read()).isEqualTo(-1);
        }
    }

    @Test
    void givesAllBytesBeforeAFailure() throws IOException {
        byte[] content = content(LARGE);
        for (var failure : new Throwable[] {
            new ZipException("damaged"), new IllegalStateException("too many bytes"), new StackOverflowError("deep")
        }) {
            var source = new SequenceInputStream(new ByteArrayInputStream(content), failing(failure));
            try (var ahead = ReadAhead.start(source)) {
                assertThat(ahead.readNBytes(LARGE)).isEqualTo(content);
                assertThatThrownBy(ahead::read).isSameAs(failure);
                assertThatThrownBy(ahead::read).isSameAs(failure);
            }
        }
    }

    @Test
    void leavesTheSourceToTheCallerWhenItIsClosed() throws IOException {
        byte[] content = content(LARGE);
        var source = new ByteArrayInputStream(content);
        try (var ahead = ReadAhead.start(source)) {
            ahead.readNBytes(1000);
        }
        int left = source.available();
        byte[] rest = source.readAllBytes();
        assertThat(rest).hasSize(left).endsWith(Arrays.copyOfRange(content, LARGE - 1000, LARGE));
    }

    @Test
    void endsWithAnInterruptedReader() throws Exception {
        var reached = new CountDownLatch(1);
        var ahead = ReadAhead.start(new InputStream() {
            @Override
            public int read() throws IOException {
                reached.countDown();
                try {
                    Thread.sleep(TimeUnit.HOURS.toMillis(1));
                    return -1;
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        });
        reached.await();
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(ahead::read)
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.CANCELED));
            ahead.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
    }

    private static byte[] content(int length) {
        byte[] content = new byte[length];
        new Random(1).nextBytes(content);
        return content;
    }

    private static InputStream failing(Throwable failure) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                switch (failure) {
                    case IOException e -> throw e;
                    case RuntimeException e -> throw e;
                    default -> throw (Error) failure;
                }
            }
        };
    }
}
