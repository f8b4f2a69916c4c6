package dev.cay.proxy;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.jspecify.annotations.Nullable;

/// An answer that a server has compressed although it was asked not to. A secret cannot be found in compressed bytes,
/// so where values are struck out, gzip and deflate are unpacked, and other codings do not pass.
final class CompressedAnswer implements Closeable {
    private static final Set<String> GZIP = Set.of("gzip", "x-gzip");
    private static final String DEFLATE = "deflate";
    private static final int BUFFER = 16 * 1024;

    private final InputStream coded;
    private final InputStream content;

    private CompressedAnswer(InputStream coded, InputStream content) {
        this.coded = coded;
        this.content = content;
    }

    /// Whether the client gets the content without its coding, so that headers about the coded content are not true.
    ///
    /// @param scrub strikes values out of this answer; null if there are none
    /// @throws IOException when values are struck out, and the coding is unknown
    static boolean isUnpacked(@Nullable Scrub scrub, HttpFields fields) throws IOException {
        return scrub != null && coding(fields) != null;
    }

    /// Whether a header is about the coded content.
    static boolean isOfCoding(HttpField field) {
        return field.getHeader() == HttpHeader.CONTENT_ENCODING || field.getHeader() == HttpHeader.CONTENT_LENGTH;
    }

    /// Begins to unpack; waits for the first bytes.
    static CompressedAnswer open(UpstreamAnswer answer) throws IOException {
        var coded = new PushbackInputStream(new Coded(answer));
        int first = coded.read();
        if (first < 0) {
            return new CompressedAnswer(coded, coded);
        }
        coded.unread(first);
        return new CompressedAnswer(
                coded,
                DEFLATE.equals(coding(answer.fields())) ? inflating(coded, first) : new GZIPInputStream(coded, BUFFER));
    }

    /// Some servers leave out the head that RFC 9110 wants, which begins with a byte of this form.
    private static InputStream inflating(InputStream coded, int first) {
        boolean bare = (first & 0x0f) != 8 || (first & 0xf0) > 0x70;
        return new InflaterInputStream(coded, new Inflater(bare), BUFFER) {
            @Override
            public void close() throws IOException {
                super.close();
                inf.end();
            }
        };
    }

    /// The next piece of the content; null at the end of the answer.
    @Nullable
    ByteBuffer next() throws IOException {
        byte[] piece = new byte[BUFFER];
        int count = content.read(piece);
        if (count < 0) {
            coded.transferTo(OutputStream.nullOutputStream());
            return null;
        }
        return ByteBuffer.wrap(piece, 0, count);
    }

    @Override
    public void close() throws IOException {
        content.close();
    }

    /// The coding; null if there is none.
    private static @Nullable String coding(HttpFields fields) throws IOException {
        List<String> codings = fields.getCSV(HttpHeader.CONTENT_ENCODING, false).stream()
                .map(coding -> coding.strip().toLowerCase(Locale.ROOT))
                .filter(coding -> !coding.isEmpty() && !coding.equals("identity"))
                .toList();
        if (codings.isEmpty()) {
            return null;
        }
        String coding = codings.getFirst();
        if (codings.size() > 1 || !(GZIP.contains(coding) || coding.equals(DEFLATE))) {
            throw new IOException("it compressed the answer as '%s' unasked, which does not pass because a secret that "
                            .formatted(String.join(", ", codings))
                    + "the request carries cannot be found in it");
        }
        return coding;
    }

    /// The content as the server sends it.
    private static final class Coded extends InputStream {
        private final UpstreamAnswer answer;
        private ByteBuffer piece = ByteBuffer.allocate(0);

        Coded(UpstreamAnswer answer) {
            this.answer = answer;
        }

        @Override
        public int read() throws IOException {
            return await() ? piece.get() & 0xff : -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            if (!await()) {
                return -1;
            }
            int count = Math.min(length, piece.remaining());
            piece.get(into, offset, count);
            return count;
        }

        /// More than nothing before the end is known: what unpacks gzip asks whether another part may follow.
        @Override
        public int available() {
            return piece.hasRemaining() || !answer.complete() ? 1 : 0;
        }

        /// False at the end.
        private boolean await() throws IOException {
            while (!piece.hasRemaining()) {
                var more = answer.content();
                if (more != null) {
                    piece = more;
                } else if (answer.complete()) {
                    return false;
                } else {
                    answer.fetch();
                }
            }
            return true;
        }
    }
}
