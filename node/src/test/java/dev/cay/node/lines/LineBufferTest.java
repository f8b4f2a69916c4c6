package dev.cay.node.lines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Fast
class LineBufferTest {
    private static final byte[] MEGABYTE = "x".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = {'\n'};

    private final LongLines room = new LongLines();

    @Test
    void linesAreTheSameHoweverTheyCome() throws Exception {
        var random = new Random(1);
        var expected = new ArrayList<String>();
        for (int i = 0; i < 200; i++) {
            expected.add("y".repeat(1 + random.nextInt(i % 50 == 0 ? 400_000 : 300)));
        }
        byte[] all = (String.join("\n", expected) + "\n\n\nrest").getBytes(StandardCharsets.US_ASCII);
        var got = new ArrayList<String>();
        try (var lines = new LineBuffer(room)) {
            for (int at = 0; at < all.length; ) {
                int count = Math.min(all.length - at, 1 + random.nextInt(60_000));
                byte[] piece = java.util.Arrays.copyOfRange(all, at, at + count);
                lines.add(piece, count, line -> got.add(new String(line, StandardCharsets.US_ASCII)));
                at += count;
            }
        }
        assertThat(got).isEqualTo(expected);
    }

    @Test
    void aLineThatDoesNotEndIsGivenUp() {
        try (var lines = new LineBuffer(room)) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 40; i++) {
                            lines.add(MEGABYTE, MEGABYTE.length, _ -> {});
                        }
                    })
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("32 MiB");
        }
    }

    /// Long until it was taken, not only until it was read.
    @Test
    void aSecondLongLineOfASandboxWaitsForTheFirstToBeTaken() throws Exception {
        var delivered = new CountDownLatch(1);
        var taken = new CountDownLatch(1);
        var second = new CountDownLatch(1);
        var wanted = new ArrayList<Boolean>();
        var threads = List.of(
                Thread.startVirtualThread(() -> send(room, _ -> {
                    delivered.countDown();
                    taken.await();
                    wanted.add(room.isWanted(2));
                })),
                Thread.startVirtualThread(() -> {
                    try {
                        delivered.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    send(room, _ -> second.countDown());
                }));
        delivered.await();
        assertThat(second.await(300, TimeUnit.MILLISECONDS)).isFalse();
        taken.countDown();
        assertThat(second.await(1, TimeUnit.MINUTES)).isTrue();
        for (var thread : threads) {
            thread.join();
        }
        assertThat(wanted).containsExactly(true);
        assertThat(room.isWanted(2)).isFalse();
    }

    @Test
    void shortLinesDoNotWaitForLongOnes() throws Exception {
        var delivered = new CountDownLatch(1);
        var taken = new CountDownLatch(1);
        var thread = Thread.startVirtualThread(() -> send(room, _ -> {
            delivered.countDown();
            taken.await();
        }));
        delivered.await();
        var got = new ArrayList<byte[]>();
        try (var lines = new LineBuffer(room)) {
            lines.add(MEGABYTE, 100_000, got::add);
            lines.add(END, 1, got::add);
        }
        assertThat(got).hasSize(1);
        taken.countDown();
        thread.join();
    }

    private static void send(LongLines room, LineBuffer.Sink sink) {
        try (var lines = new LineBuffer(room)) {
            for (int i = 0; i < 3; i++) {
                lines.add(MEGABYTE, MEGABYTE.length, sink);
            }
            lines.add(END, 1, sink);
        } catch (ProtocolException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
