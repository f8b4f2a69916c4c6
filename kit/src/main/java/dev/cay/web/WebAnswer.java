package dev.cay.web;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/// The head of an answer, and its content as far as it was not read yet.
public final class WebAnswer {
    private static final int LONGEST_HEAD = 64 * 1024;
    private static final int MOST_INTERIM = 8;

    private final WebLine line;
    private final int status;
    private final Map<String, String> headers;
    private final Content content;
    private final boolean persistent;

    /// @param headers by names in any case; several of one name are joined by commas
    private WebAnswer(WebLine line, int status, boolean http11, Map<String, String> headers, InputStream in)
            throws IOException {
        this.line = line;
        this.status = status;
        this.headers = headers;
        this.content = new Content(in, length(), !header("Transfer-Encoding").isEmpty(), isReadable());
        String connection = header("Connection").toLowerCase(Locale.ROOT);
        this.persistent = http11 ? !connection.contains("close") : connection.contains("keep-alive");
    }

    /// Reads the head of the answer to the last request; the caller reads the content.
    public static WebAnswer read(WebLine line) throws IOException {
        for (int interim = 0; interim < MOST_INTERIM; interim++) {
            var answer = readHead(line);
            if (answer.status() >= 200) {
                return answer;
            }
        }
        throw new IOException("the server does not come to its answer");
    }

    private static WebAnswer readHead(WebLine line) throws IOException {
        var left = new int[] {LONGEST_HEAD};
        String first = WebLine.line(line.in(), left);
        if (!first.matches("HTTP/1\\.[01] [1-9]\\d\\d( .*)?")) {
            throw new IOException("the server does not speak HTTP");
        }
        var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        for (String text = WebLine.line(line.in(), left); !text.isEmpty(); text = WebLine.line(line.in(), left)) {
            int colon = text.indexOf(':');
            if (colon < 1 || Character.isWhitespace(text.charAt(0))) {
                throw new IOException("the server does not speak HTTP");
            }
            headers.merge(
                    text.substring(0, colon),
                    text.substring(colon + 1).strip(),
                    (before, more) -> before + ", " + more);
        }
        return new WebAnswer(
                line, Integer.parseInt(first.substring(9, 12)), first.charAt(7) == '1', headers, line.in());
    }

    public int status() {
        return status;
    }

    public boolean succeeded() {
        return status / 100 == 2;
    }

    /// Empty if there is none.
    public String header(String name) {
        return headers.getOrDefault(name, "");
    }

    /// All headers. The server chose them, so they may be anything.
    public Map<String, String> headers() {
        return Collections.unmodifiableMap(headers);
    }

    public boolean redirects() {
        return Set.of(301, 302, 303, 307, 308).contains(status);
    }

    /// The target of a redirect from this URL. The caller dials it like the first URL, because a server's redirect is
    /// as hostile as a user's URL.
    public URI redirect(URI url) throws IOException {
        URI next;
        try {
            next = url.resolve(header("Location"));
        } catch (IllegalArgumentException _) {
            throw new IOException("the server redirects to an address that is none");
        }
        String scheme = String.valueOf(next.getScheme()).toLowerCase(Locale.ROOT);
        if (header("Location").isEmpty() || next.getHost() == null || !scheme.matches("https?")) {
            throw new IOException("the server redirects to an address that is none");
        }
        if (UrlOrigin.of(url).secure() && scheme.equals("http")) {
            throw new IOException("the server redirects from https to http");
        }
        return next;
    }

    /// The media type without parameters.
    public String type() {
        return header("Content-Type").split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }

    public InputStream content() {
        return content;
    }

    public WebLine line() {
        return line;
    }

    /// Whether the connection can carry another request.
    public boolean reusable() {
        return persistent && content.atEnd() && !content.untilClosed();
    }

    /// Whether the content is in no coding but that of chunks: no other was asked for.
    private boolean isReadable() {
        String coding = header("Transfer-Encoding").toLowerCase(Locale.ROOT);
        String form = header("Content-Encoding").toLowerCase(Locale.ROOT);
        return (coding.isEmpty() || coding.equals("chunked")) && (form.isEmpty() || form.equals("identity"));
    }

    /// Less than 0 if it ends with the connection.
    private long length() throws IOException {
        if (status < 200 || status == 204 || status == 304) {
            return 0;
        }
        String length = header("Content-Length");
        if (length.isEmpty()) {
            return -1;
        }
        if (!length.matches("\\d{1,15}")) {
            throw new IOException("the server does not speak HTTP");
        }
        return Long.parseLong(length);
    }

    /// The content of this answer, which ends where the answer ends on the connection.
    private static final class Content extends InputStream {
        private static final int LONGEST_LINE = 1024;
        private static final int LONGEST_TRAILERS = 16 * 1024;

        private final InputStream in;
        private final boolean chunked;
        private final boolean untilClosed;
        private final boolean readable;
        private long left;
        private boolean begun;
        private boolean end;

        Content(InputStream in, long length, boolean chunked, boolean readable) {
            this.in = in;
            this.readable = readable;
            this.chunked = chunked && length != 0;
            this.untilClosed = length < 0 && !chunked;
            this.left = this.chunked ? 0 : untilClosed ? Long.MAX_VALUE : length;
            this.end = !this.chunked && left == 0;
        }

        boolean atEnd() {
            return end;
        }

        boolean untilClosed() {
            return untilClosed;
        }

        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, bytes.length);
            if (length == 0) {
                return 0;
            }
            if (!end && !readable) {
                throw new IOException("the server answers in a coding that was not asked for");
            }
            if (!end && chunked && left == 0) {
                nextChunk();
            }
            if (end) {
                return -1;
            }
            int count = in.read(bytes, offset, (int) Math.min(length, left));
            if (count < 0) {
                end = true;
                if (untilClosed) {
                    return -1;
                }
                throw new IOException("the server broke off its answer");
            }
            left -= count;
            end = !chunked && left == 0;
            return count;
        }

        private void nextChunk() throws IOException {
            if (begun && !WebLine.line(in, new int[] {2}).isEmpty()) {
                throw new IOException("the server does not speak HTTP");
            }
            begun = true;
            String size =
                    WebLine.line(in, new int[] {LONGEST_LINE}).split(";", 2)[0].strip();
            if (!size.matches("[0-9a-fA-F]{1,8}")) {
                throw new IOException("the server does not speak HTTP");
            }
            left = Long.parseLong(size, 16);
            if (left == 0) {
                var trailers = new int[] {LONGEST_TRAILERS};
                while (!WebLine.line(in, trailers).isEmpty()) {
                    // They say nothing to us.
                }
                end = true;
            }
        }
    }
}
