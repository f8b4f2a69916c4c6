package dev.cay.http;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// The body of an answer as a blocking stream. Small writes are gathered until `flush`; the head leaves with the first
/// bytes, or with a `flush` before them.
public final class AnswerStream extends OutputStream {
    private static final int GATHER = 16 * 1024;
    private static final Duration INTERIM_LIMIT = Duration.ofSeconds(60);
    /// How long an interrupted writer waits for bytes that are already being sent.
    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    private final Response response;
    private final Runnable giveUp;
    private final Object lock = new Object();
    private @Nullable ByteBuffer gathered;
    private boolean begun;
    private boolean closed;
    private volatile boolean sent;
    private @Nullable Throwable failure;

    /// @param giveUp cuts the exchange, because after a write that never returned the stream cannot continue
    AnswerStream(Response response, Runnable giveUp) {
        this.response = response;
        this.giveUp = giveUp;
    }

    /// Whether something was written or the answer was ended.
    boolean begun() {
        return begun;
    }

    /// Whether the client has all of it. From any thread.
    boolean sent() {
        return sent;
    }

    /// A word before the answer, such as 103. A client of HTTP/1.0 would take it for the answer.
    public void interim(int status, HttpFields fields) throws IOException {
        if (response.getRequest().getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_0) {
            return;
        }
        try {
            response.writeInterim(status, fields).get(INTERIM_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClientGone("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new ClientGone("the client disconnected", e);
        }
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length >= GATHER / 2) {
            flushGathered();
            put(false, ByteBuffer.wrap(bytes, offset, length));
            return;
        }
        if (gathered == null) {
            gathered = ByteBuffer.allocate(GATHER);
        }
        if (gathered.remaining() < length) {
            flushGathered();
        }
        begun = true;
        gathered.put(bytes, offset, length);
    }

    /// Sends bytes as they are and at once, after those gathered so far.
    public void send(ByteBuffer bytes) throws IOException {
        flushGathered();
        put(false, bytes);
    }

    @Override
    public void flush() throws IOException {
        if (closed) {
            return;
        }
        if (gathered != null && gathered.position() > 0) {
            flushGathered();
        } else if (!response.isCommitted()) {
            put(false, ByteBuffer.allocate(0));
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        ByteBuffer rest = gathered == null ? ByteBuffer.allocate(0) : gathered.flip();
        gathered = null;
        finish(rest);
    }

    /// Sends the last bytes and ends the answer.
    public void finish(ByteBuffer last) throws IOException {
        put(true, last);
        closed = true;
    }

    /// Fails every later write, and one that waits now.
    void fail(Throwable cause) {
        synchronized (lock) {
            if (failure == null) {
                failure = cause;
            }
            lock.notifyAll();
        }
    }

    private void flushGathered() throws IOException {
        if (gathered != null && gathered.position() > 0) {
            put(false, gathered.flip());
            gathered.clear();
        }
    }

    private void put(boolean last, ByteBuffer bytes) throws IOException {
        if (closed) {
            throw new IOException("the answer is complete");
        }
        begun = true;
        var write = new Write(last);
        synchronized (lock) {
            if (failure != null) {
                throw new ClientGone("the client disconnected", failure);
            }
        }
        response.write(last, bytes, write);
        write.await();
    }

    private final class Write implements Callback {
        private final boolean last;
        private boolean done;
        private @Nullable Throwable broken;

        Write(boolean last) {
            this.last = last;
        }

        @Override
        public void succeeded() {
            // Completed here at once: the waiting thread may be late, and the client's next request is not.
            if (last) {
                sent = true;
            }
            synchronized (lock) {
                done = true;
                lock.notifyAll();
            }
        }

        @Override
        public void failed(Throwable cause) {
            synchronized (lock) {
                done = true;
                broken = cause;
                lock.notifyAll();
            }
        }

        @Override
        public InvocationType getInvocationType() {
            return InvocationType.NON_BLOCKING;
        }

        void await() throws IOException {
            boolean interrupted = false;
            try {
                synchronized (lock) {
                    while (!done && failure == null) {
                        try {
                            lock.wait();
                        } catch (InterruptedException e) {
                            interrupted = true;
                            lastMoment();
                        }
                    }
                    Throwable cause = broken == null ? done ? null : failure : broken;
                    if (cause != null) {
                        throw new ClientGone("the client disconnected", cause);
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private void lastMoment() throws IOException {
            long end = System.nanoTime() + LAST_MOMENT.toNanos();
            while (!done && failure == null) {
                long left = Duration.ofNanos(end - System.nanoTime()).toMillis();
                if (left <= 0) {
                    giveUp.run();
                    throw new InterruptedIOException("interrupted while the client did not read");
                }
                try {
                    lock.wait(left);
                } catch (InterruptedException e) {
                    // A second interrupt changes nothing, because the wait ends soon.
                }
            }
        }
    }
}
