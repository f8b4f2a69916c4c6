package dev.cay.web;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One HTTP/1.1 connection, which carries one request after the other. The server may be hostile.
///
/// Closing it from another thread ends every wait on it.
public final class WebLine implements Closeable {
    private final UrlOrigin origin;
    private final Socket plain;
    private final Socket spoken;
    private final InputStream in;
    private volatile long used = System.nanoTime();

    /// @param spoken the plain one, or TLS on top of it
    WebLine(UrlOrigin origin, Socket plain, Socket spoken) throws IOException {
        this.origin = origin;
        this.plain = plain;
        this.spoken = spoken;
        this.in = new BufferedInputStream(spoken.getInputStream(), 16 * 1024);
    }

    /// A connection over a socket that the caller made, without TLS.
    public static WebLine over(Socket socket, UrlOrigin origin) throws IOException {
        return new WebLine(origin, socket, socket);
    }

    public UrlOrigin origin() {
        return origin;
    }

    /// Sends a request, whose answer {@link WebAnswer#read} reads.
    ///
    /// @param target path and query
    public void send(String method, String target, Map<String, String> headers, byte @Nullable [] body)
            throws IOException {
        var head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        if (body != null) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        var request = new ByteArrayOutputStream(head.length() + 2 + (body == null ? 0 : body.length));
        request.write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        if (body != null) {
            request.write(body);
        }
        spoken.getOutputStream().write(request.toByteArray());
    }

    /// The bytes that the server sends.
    InputStream in() {
        return in;
    }

    /// Reads a line without its end, and subtracts its length from what is left of the limit.
    static String line(InputStream in, int[] left) throws IOException {
        var line = new StringBuilder();
        while (left[0]-- > 0) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (next == '\n') {
                int end = line.length();
                return end > 0 && line.charAt(end - 1) == '\r' ? line.substring(0, end - 1) : line.toString();
            }
            line.append((char) next);
        }
        throw new IOException("the server sends headers without an end");
    }

    /// Whether the server has neither closed the connection nor sent anything since its last answer. Checked before
    /// each use, because a lost request cannot be repeated: the server may have acted on it.
    public boolean stillGood(Duration idle) {
        if (System.nanoTime() - used > idle.toNanos()) {
            return false;
        }
        try {
            spoken.setSoTimeout(1);
            in.read();
            return false;
        } catch (SocketTimeoutException _) {
            return noLimit();
        } catch (IOException _) {
            return false;
        }
    }

    private boolean noLimit() {
        try {
            spoken.setSoTimeout(0);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    public void rest() {
        used = System.nanoTime();
    }

    /// Closes without TLS's close message, because writing it may block for ever.
    @Override
    public void close() {
        try {
            plain.close();
        } catch (IOException _) {
            // The connection is closed already.
        }
    }
}
