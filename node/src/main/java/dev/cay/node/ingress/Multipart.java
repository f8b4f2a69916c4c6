package dev.cay.node.ingress;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads `multipart/form-data` part by part as it arrives; never holds more than one buffer of it.
final class Multipart {
    private static final int BUFFER = 32 << 10;
    private static final int MAX_HEADERS = 16 << 10;

    /// Possessive, as an alternative that could be tried again would cost a stack frame for every character.
    private static final Pattern PARAMETER =
            Pattern.compile(";\\s*([a-zA-Z*]+)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|([^;\\s]*))");

    /// A part: its body must be read before the next one is asked for, the rest of it is skipped.
    record Part(String name, @Nullable String filename, InputStream body) {}

    private final InputStream in;
    private final byte[] delimiter;
    private final byte[] buffer = new byte[BUFFER];
    private int start;
    private int end;
    private boolean exhausted;
    private @Nullable InputStream open;

    Multipart(InputStream in, String boundary) {
        if (boundary.isEmpty() || boundary.length() > 200) {
            throw bad("the multipart boundary must have 1 to 200 characters");
        }
        this.in = in;
        this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.UTF_8);
        // The first delimiter has no line end before it.
        buffer[0] = '\r';
        buffer[1] = '\n';
        end = 2;
        open = new Body();
    }

    /// The boundary named by a Content-Type.
    static String boundary(String contentType) {
        String boundary = parameter(contentType, "boundary");
        if (boundary == null) {
            throw bad("the Content-Type names no multipart boundary");
        }
        return boundary;
    }

    /// The next part, or null after the last one.
    @Nullable
    Part next() throws IOException {
        if (open != null) {
            open.transferTo(OutputStream.nullOutputStream());
            open = null;
            start += delimiter.length;
        }
        if (!fill(2)) {
            throw bad("the multipart body ends without its boundary");
        }
        if (buffer[start] == '-' && buffer[start + 1] == '-') {
            return null;
        }
        String disposition = disposition();
        var body = new Body();
        open = body;
        String name = parameter(disposition, "name");
        return new Part(name == null ? "" : name, parameter(disposition, "filename"), body);
    }

    private String disposition() throws IOException {
        String found = "";
        int read = 0;
        line(); // What follows the delimiter on its line means nothing.
        for (String line = line(); !line.isEmpty(); line = line()) {
            read += line.length();
            if (read > MAX_HEADERS) {
                throw bad("the headers of a part are too long");
            }
            if (line.toLowerCase(Locale.ROOT).startsWith("content-disposition:")) {
                found = line;
            }
        }
        return found;
    }

    private String line() throws IOException {
        for (int at = start; ; at++) {
            if (at + 1 >= end) {
                int seen = at - start;
                if (seen > MAX_HEADERS || !fill(seen + 2)) {
                    throw bad("the multipart body ends within a part's headers");
                }
                at = start + seen;
            }
            if (buffer[at] == '\r' && buffer[at + 1] == '\n') {
                String line = new String(buffer, start, at - start, StandardCharsets.UTF_8);
                start = at + 2;
                return line;
            }
        }
    }

    static @Nullable String parameter(String header, String name) {
        var matcher = PARAMETER.matcher(header);
        while (matcher.find()) {
            if (matcher.group(1).equalsIgnoreCase(name)) {
                String quoted = matcher.group(2);
                return quoted == null ? matcher.group(3) : quoted.replaceAll("\\\\([\"\\\\])", "$1");
            }
        }
        return null;
    }

    /// Tries to have `count` bytes at hand; false when the input ends before.
    private boolean fill(int count) throws IOException {
        if (end - start >= count) {
            return true;
        }
        if (start > 0) {
            System.arraycopy(buffer, start, buffer, 0, end - start);
            end -= start;
            start = 0;
        }
        while (end < count && !exhausted) {
            int read = in.read(buffer, end, buffer.length - end);
            exhausted = read < 0;
            end += Math.max(0, read);
        }
        return end >= count;
    }

    private static CayException bad(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }

    /// Everything up to the next delimiter.
    private final class Body extends InputStream {
        private boolean finished;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (finished) {
                return -1;
            }
            if (!fill(delimiter.length)) {
                throw bad("the multipart body ends without its boundary");
            }
            int safe = safe();
            if (safe == 0) {
                finished = true;
                return -1;
            }
            int count = Math.min(safe, length);
            System.arraycopy(buffer, start, into, offset, count);
            start += count;
            return count;
        }

        /// How many of the buffered bytes cannot belong to a delimiter; 0 when one begins here.
        private int safe() {
            for (int at = start; at < end; at++) {
                if (buffer[at] == '\r' && couldBegin(at)) {
                    return at - start;
                }
            }
            return end - start;
        }

        private boolean couldBegin(int at) {
            int length = Math.min(delimiter.length, end - at);
            for (int i = 0; i < length; i++) {
                if (buffer[at + i] != delimiter[i]) {
                    return false;
                }
            }
            return true;
        }
    }
}
