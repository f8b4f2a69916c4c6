package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

@Fast
class MultipartTest {
    /// Gives bytes in pieces of random size, as networks do.
    private static InputStream slowly(byte[] bytes, Random random) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public int read(byte[] into, int offset, int length) {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(40)));
            }
        };
    }

    private static Multipart.Part next(Multipart parts) throws IOException {
        return Objects.requireNonNull(parts.next());
    }

    private static byte[] body(String boundary, byte[]... contents) throws IOException {
        var out = new ByteArrayOutputStream();
        int number = 0;
        for (byte[] content : contents) {
            out.writeBytes(
                    "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/tmp/a b%d.txt\"\r\nContent-Type: x\r\n\r\n"
                            .formatted(boundary, number++)
                            .getBytes(UTF_8));
            out.write(content);
            out.writeBytes("\r\n".getBytes(UTF_8));
        }
        out.writeBytes("--%s--\r\n".formatted(boundary).getBytes(UTF_8));
        return out.toByteArray();
    }

    /// What the buffer held before must not be taken for the rest of a line.
    @Test
    void waitsForTheOtherHalfOfALineEnd() throws Exception {
        var pieces = new ArrayDeque<>(List.of("--b", "\r\n", "\r", "\nabc\r\n--b--\r\n"));
        var in = new InputStream() {
            @Override
            public int read() {
                throw new UnsupportedOperationException();
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                if (pieces.isEmpty()) {
                    return -1;
                }
                byte[] piece = pieces.remove().getBytes(UTF_8);
                System.arraycopy(piece, 0, into, offset, piece.length);
                return piece.length;
            }
        };
        var parts = new Multipart(in, "b");
        assertThat(next(parts).body().readAllBytes()).isEqualTo("abc".getBytes(UTF_8));
        assertThat(parts.next()).isNull();
    }

    /// A matcher that goes back for every character runs out of stack long before this.
    @Test
    void readsNamesOfAnyLength() {
        String name = "\\\"n".repeat(100_000);
        assertThat(Multipart.parameter("form-data; name=\"%s\"; x=y".formatted(name), "name"))
                .isEqualTo(name.replace("\\", ""));
        assertThat(Multipart.parameter("form-data; name=\"%s".formatted(name), "x"))
                .isNull();
    }

    @Test
    void readsPartsWhoseContentLooksLikeTheBoundary() throws Exception {
        var random = new Random(7);
        for (int round = 0; round < 200; round++) {
            byte[] first = "\r\n--x\r\r\n--bound\r\n--boundar-\r\n\r".getBytes(UTF_8);
            byte[] second = new byte[random.nextInt(200_000)];
            random.nextBytes(second);
            var parts = new Multipart(slowly(body("boundary", first, second, new byte[0]), random), "boundary");

            var part = next(parts);
            assertThat(part.name()).isEqualTo("file");
            assertThat(part.filename()).isEqualTo("/tmp/a b0.txt");
            assertThat(part.body().readAllBytes()).isEqualTo(first);
            assertThat(next(parts).body().readAllBytes()).isEqualTo(second);
            assertThat(next(parts).body().readAllBytes()).isEmpty();
            assertThat(parts.next()).isNull();
        }
    }

    @Test
    void skipsWhatWasNotRead() throws Exception {
        var parts = new Multipart(new ByteArrayInputStream(body("b", new byte[100_000], "two".getBytes(UTF_8))), "b");
        parts.next();
        assertThat(next(parts).body().readAllBytes()).isEqualTo("two".getBytes(UTF_8));
    }

    @Test
    void refusesABodyThatEndsEarly() throws Exception {
        byte[] whole = body("b", new byte[1000]);
        for (int length : new int[] {0, 3, 20, 60, 500, whole.length - 8}) {
            var parts = new Multipart(new ByteArrayInputStream(whole, 0, length), "b");
            assertThatThrownBy(() -> {
                        for (var part = parts.next(); part != null; part = parts.next()) {
                            part.body().readAllBytes();
                        }
                    })
                    .isInstanceOf(CayException.class);
        }
    }

    @Test
    void readsQuotedAndBareParameters() {
        assertThat(Multipart.boundary("multipart/form-data; boundary=----x-1")).isEqualTo("----x-1");
        assertThat(Multipart.boundary("multipart/form-data; charset=utf-8; boundary=\"a b\""))
                .isEqualTo("a b");
        assertThat(Multipart.parameter("form-data; name=\"file\"; filename=\"q\\\"x;y=1\"", "filename"))
                .isEqualTo("q\"x;y=1");
    }
}
