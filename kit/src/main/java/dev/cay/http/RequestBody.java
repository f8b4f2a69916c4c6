package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// The body of a request as a blocking stream, which any thread can end by {@link #fail}.
///
/// Jetty's own stream would not wake up when Cay cuts the exchange.
public final class RequestBody extends InputStream {
    private static final int JSON_LIMIT = 1024 * 1024;
    private static final int FORM_LIMIT = 64 * 1024;
    private static final long FOREVER = Duration.ofDays(36_500).toNanos();

    private final Request request;
    private final Runnable whenEnded;
    private final Object lock = new Object();
    private Content.@Nullable Chunk current;
    private boolean begun;
    private boolean asked;
    private boolean ended;
    private boolean unwanted;
    private @Nullable Throwable failure;
    private long patience = FOREVER;

    RequestBody(Request request, Runnable whenEnded) {
        this.request = request;
        this.whenEnded = whenEnded;
    }

    /// A read that waits longer than this fails.
    void patience(Duration limit) {
        synchronized (lock) {
            patience = limit.toNanos();
        }
    }

    /// All of it as JSON, at most 1 MiB; an empty body is read as `null`. Bad JSON is the client's error.
    <T> @Nullable T json(Class<T> type) {
        byte[] bytes = all(JSON_LIMIT, "the body is larger than 1 MiB");
        return bytes.length == 0 ? null : Json.read(bytes, type);
    }

    /// All of it as the fields of an HTML form, at most 64 KiB; of several fields with one name the first.
    Map<String, String> form() {
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded")) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the body must be a form: application/x-www-form-urlencoded");
        }
        byte[] bytes = all(FORM_LIMIT, "the form is larger than 64 KiB");
        var fields = new HashMap<String, String>();
        QueryString.parse(new String(bytes, StandardCharsets.UTF_8))
                .values()
                .forEach((name, values) -> fields.put(name, values.getFirst()));
        return fields;
    }

    private byte[] all(int limit, String tooLarge) {
        try {
            byte[] bytes = readNBytes(limit + 1);
            if (bytes.length > limit) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, tooLarge);
            }
            return bytes;
        } catch (IOException e) {
            throw new CayException(ErrorKind.CANCELED, "the request ended before its body did", e);
        }
    }

    /// Whether all of the body has been taken over, so that nobody reads the connection any more.
    public boolean ended() {
        synchronized (lock) {
            if (!ended && current == null && failure == null && !asked && (begun || !expectsContinue())) {
                take();
            }
            return ended;
        }
    }

    /// The bytes that have arrived; null if the client has not sent any yet.
    @Nullable
    public ByteBuffer peek() {
        synchronized (lock) {
            if (current == null && !ended && failure == null && !asked) {
                take();
            }
            return current == null ? null : current.getByteBuffer();
        }
    }

    /// The next bytes without copying them, or null at the end. They must be handed back with {@link #release}.
    @Nullable
    public ByteBuffer next() throws IOException {
        synchronized (lock) {
            while (current == null) {
                if (failure != null) {
                    throw new ClientGone("the client broke off", failure);
                }
                if (ended) {
                    return null;
                }
                take();
                if (current == null && !ended && failure == null) {
                    await(System.nanoTime() + patience);
                    requireNews();
                }
            }
            return current.getByteBuffer();
        }
    }

    private void requireNews() {
        if (asked && failure == null) {
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED, "the client sent nothing for " + Duration.ofNanos(patience));
        }
    }

    /// Releases the chunk that {@link #next} returned, if it has been used up.
    ///
    /// Then reads ahead at once: readers that know how much to expect never ask for the end, and the connection can
    /// be watched only after the end.
    public void release() {
        synchronized (lock) {
            if (current != null && !current.hasRemaining()) {
                current.release();
                current = null;
                if (!ended && failure == null) {
                    take();
                }
            }
        }
    }

    /// Discards what the client still sends, until it has sent all or the limit has passed; false if there is more.
    ///
    /// Closing a connection with unread bytes resets it, and the client loses the answer: a refused upload would
    /// look like a broken network.
    ///
    /// @param rateLimiter limits the bytes, because discarding them is work that serves nobody
    boolean discard(Duration limit, RateLimiter rateLimiter) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        synchronized (lock) {
            unwanted = true;
            // A client that sent `Expect: 100-continue` does not send the body once it has an answer.
            if (!begun && expectsContinue()) {
                return true;
            }
        }
        try {
            while (System.nanoTime() < end) {
                int dropped = dropNext(end);
                if (dropped < 0) {
                    return true;
                }
                rateLimiter.await(dropped);
            }
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the client");
        }
    }

    /// @return how many bytes there were, -1 when no more will come
    private int dropNext(long end) throws IOException {
        synchronized (lock) {
            if (current == null && !ended && failure == null) {
                take();
            }
            if (current == null && !ended && failure == null) {
                await(end);
                return 0;
            }
            if (current == null) {
                return -1;
            }
            int count = current.remaining();
            current.release();
            current = null;
            return count;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        ByteBuffer bytes = next();
        if (bytes == null) {
            return -1;
        }
        int count = Math.min(length, bytes.remaining());
        bytes.get(target, offset, count);
        release();
        return count;
    }

    @Override
    public int available() {
        ByteBuffer bytes = peek();
        return bytes == null ? 0 : bytes.remaining();
    }

    /// Fails every later read, and one that waits now.
    void fail(Throwable cause) {
        synchronized (lock) {
            if (failure == null) {
                failure = cause;
            }
            lock.notifyAll();
        }
    }

    /// Whether the client waits for `100 Continue`. Jetty sends that when the body is first read; merely looking must
    /// not do it.
    private boolean expectsContinue() {
        return request.getHeaders().contains(HttpHeader.EXPECT);
    }

    private void take() {
        begun = true;
        Content.Chunk chunk = request.read();
        if (chunk == null) {
            return;
        }
        if (Content.Chunk.isFailure(chunk)) {
            failure = chunk.getFailure();
            return;
        }
        if (chunk.hasRemaining()) {
            current = chunk;
        } else {
            chunk.release();
        }
        if (chunk.isLast()) {
            ended = true;
            if (!unwanted) {
                whenEnded.run();
            }
        }
    }

    private void await(long end) throws IOException {
        if (!asked) {
            asked = true;
            request.demand(this::arrived);
        }
        try {
            long left = end - System.nanoTime();
            while (asked && failure == null && left > 0) {
                TimeUnit.NANOSECONDS.timedWait(lock, left);
                left = end - System.nanoTime();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the client");
        }
    }

    private void arrived() {
        synchronized (lock) {
            asked = false;
            lock.notifyAll();
        }
    }
}
