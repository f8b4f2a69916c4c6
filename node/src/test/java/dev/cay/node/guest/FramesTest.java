package dev.cay.node.guest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.testing.Fast;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

@Fast
class FramesTest {
    private static byte[] frame(int type, int request, byte[] payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(5 + payload.length)
                .put((byte) type)
                .putInt(request)
                .put(payload)
                .array();
    }

    @Test
    void putsFramesTogetherHoweverTheyArrive() throws Exception {
        var random = new Random(3);
        for (int round = 0; round < 300; round++) {
            var all = new java.io.ByteArrayOutputStream();
            for (int i = 0; i < 5; i++) {
                all.writeBytes(frame(130, i, new byte[random.nextInt(9000)]));
            }
            var seen = new ArrayList<Integer>();
            try (var frames = new Frames()) {
                byte[] bytes = all.toByteArray();
                for (int at = 0; at < bytes.length; ) {
                    int length = Math.min(bytes.length - at, 1 + random.nextInt(4000));
                    frames.add(Arrays.copyOfRange(bytes, at, at + length), length, List.of());
                    at += length;
                    for (var frame = frames.next(); frame != null; frame = frames.next()) {
                        seen.add(frame.request());
                    }
                    frames.checkRest();
                }
            }
            assertThat(seen).containsExactly(0, 1, 2, 3, 4);
        }
    }

    /// Whatever comes, only a ProtocolException may come out, and no more memory than the limit is taken.
    @Test
    void survivesNonsense() {
        var random = new Random(11);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 4 && random.nextBoolean()) {
                bytes[1] = 0;
                bytes[2] = 0;
                bytes[3] = 0;
            }
            try (var frames = new Frames()) {
                frames.add(bytes, bytes.length, List.of());
                for (var frame = frames.next(); frame != null; frame = frames.next()) {
                    frame.positive();
                    frame.string(10);
                    frame.u8();
                    frame.end();
                }
            } catch (ProtocolException expected) {
                assertThat(expected).hasMessageNotContaining("null");
            }
        }
    }

    @Test
    void refusesImpossibleLengths() throws Exception {
        for (int length : new int[] {0, 4, -1, Integer.MIN_VALUE, Frames.MAX_LENGTH + 1}) {
            try (var frames = new Frames()) {
                byte[] head = ByteBuffer.allocate(9)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(length)
                        .array();
                frames.add(head, 9, List.of());
                assertThatThrownBy(frames::next).isInstanceOf(ProtocolException.class);
            }
        }
        var text = new Frames.Frame(
                1, 1, ByteBuffer.wrap(new byte[] {100, 0, 0, 0, 'x'}).order(ByteOrder.LITTLE_ENDIAN));
        assertThatThrownBy(() -> text.string(1000)).hasMessage("frame too short");
        assertThat("é".getBytes(UTF_8)).hasSize(2);
    }

    @Test
    void closesDescriptorsThatNobodyAskedFor() throws Exception {
        var pipe = DescriptorIo.pipe();
        try (var frames = new Frames()) {
            frames.add(frame(130, 0, new byte[0]), 9, List.of(pipe.readEnd(), pipe.writeEnd()));
            assertThat(frames.next()).isNotNull();
            assertThatThrownBy(frames::checkRest).hasMessageContaining("no frame asked for");
        }
        assertThat(pipe.readEnd().closed()).isTrue();
        assertThat(pipe.writeEnd().closed()).isTrue();

        var closed = new Frames();
        closed.close();
        Descriptor late = DescriptorIo.pipe().readEnd();
        assertThatThrownBy(() -> closed.add(new byte[0], 0, List.of(late))).isInstanceOf(ProtocolException.class);
        assertThat(late.closed()).isTrue();
    }
}
