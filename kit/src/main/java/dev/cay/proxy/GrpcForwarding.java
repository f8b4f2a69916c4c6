package dev.cay.proxy;

import dev.cay.http.AnswerStream;
import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.http.RequestBody;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.frames.DataFrame;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
import org.jspecify.annotations.Nullable;

/// Forwards one gRPC call to an HTTP/2 server: a thread of its own sends messages, the caller's thread returns answers,
/// and the trailers, which have the call's status, come last. A slow reader causes back-pressure on the other side.
final class GrpcForwarding implements Stream.Listener {
    private static final Duration SILENT = Duration.ofSeconds(610);
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Exchange exchange;
    private final UpstreamRequest request;
    private final Object lock = new Object();
    private MetaData.@Nullable Response head;
    private HttpFields trailers = HttpFields.EMPTY;
    private boolean readable;
    private @Nullable Throwable failure;

    GrpcForwarding(Exchange exchange, UpstreamRequest request) {
        this.exchange = exchange;
        this.request = request;
    }

    void run(Http2Upstreams sessions, Upstream upstream) throws IOException {
        RequestBody body = exchange.requestBody();
        boolean empty = body.ended() && body.peek() == null;
        try (var call = sessions.begin(
                upstream, new HeadersFrame(request.http2Head(upstream.tls() != null), null, empty), this)) {
            exchange.onEnd(call::giveUp);
            Thread sending = empty ? null : Thread.ofVirtual().start(() -> sendBody(call));
            try {
                var first = awaitHead();
                PartialAnswers.refuse(LastHop.scrub(exchange), first.getStatus(), first.getHttpFields());
                passHead(first);
                passContent(call.stream());
            } finally {
                if (sending != null) {
                    sending.interrupt();
                }
            }
        }
    }

    private void sendBody(Http2Upstreams.Call call) {
        RequestBody body = exchange.requestBody();
        Stream stream = call.stream();
        try {
            for (ByteBuffer bytes = body.next(); bytes != null; bytes = body.next()) {
                Http2Upstreams.await(stream.data(new DataFrame(stream.getId(), bytes.slice(), false)), SILENT);
                bytes.position(bytes.limit());
                body.release();
            }
            Http2Upstreams.await(stream.data(new DataFrame(stream.getId(), NOTHING.duplicate(), true)), SILENT);
        } catch (ClientGone e) {
            call.giveUp();
        } catch (IOException e) {
            // A server may answer without reading all; if it does not answer, the reader of the answer will know.
        }
    }

    private MetaData.Response awaitHead() throws IOException {
        synchronized (lock) {
            await(() -> head != null);
            return Objects.requireNonNull(head);
        }
    }

    private void passHead(MetaData.Response head) {
        Response response = exchange.response();
        response.setStatus(head.getStatus());
        for (HttpField field : AnswerHeaders.passable(head.getHttpFields(), exchange)) {
            response.getHeaders().add(field);
        }
        if (LastHop.passesTrailers(exchange)) {
            response.setTrailersSupplier(this::trailers);
        }
    }

    private HttpFields trailers() {
        synchronized (lock) {
            return AnswerHeaders.struck(trailers, LastHop.scrub(exchange));
        }
    }

    private void passContent(Stream stream) throws IOException {
        AnswerStream out = exchange.answer();
        Scrub scrub = LastHop.scrub(exchange);
        var messages = scrub == null ? null : new FramedScrub(scrub, FramedScrub.Protocol.GRPC);
        while (true) {
            Stream.Data data = stream.readData();
            if (data == null) {
                out.flush();
                awaitData(stream);
                continue;
            }
            try {
                ByteBuffer bytes = data.frame().getByteBuffer();
                if (messages != null) {
                    bytes = messages.pass(bytes);
                }
                if (bytes.hasRemaining()) {
                    out.send(bytes);
                }
                if (data.frame().isEndStream()) {
                    out.finish(messages == null ? NOTHING.duplicate() : messages.rest());
                    return;
                }
            } finally {
                data.release();
            }
        }
    }

    private void awaitData(Stream stream) throws IOException {
        synchronized (lock) {
            readable = false;
        }
        stream.demand();
        synchronized (lock) {
            await(() -> readable);
        }
    }

    /// Under the lock.
    private void await(BooleanSupplier there) throws IOException {
        long end = System.nanoTime() + SILENT.toNanos();
        while (!there.getAsBoolean()) {
            if (failure != null) {
                throw new IOException(String.valueOf(failure.getMessage()), failure);
            }
            long left = Duration.ofNanos(end - System.nanoTime()).toMillis();
            if (left <= 0) {
                throw new IOException("the server was silent for " + SILENT);
            }
            try {
                lock.wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException("interrupted").initCause(e);
            }
        }
    }

    @Override
    public void onHeaders(Stream stream, HeadersFrame frame) {
        synchronized (lock) {
            if (frame.getMetaData() instanceof MetaData.Response response) {
                head = response.getStatus() >= 200 ? response : head;
            } else {
                trailers = frame.getMetaData().getHttpFields();
            }
            lock.notifyAll();
        }
    }

    @Override
    public void onDataAvailable(Stream stream) {
        synchronized (lock) {
            readable = true;
            lock.notifyAll();
        }
    }

    @Override
    public void onReset(Stream stream, ResetFrame frame, Callback callback) {
        fail(new IOException("the server reset the call: " + ErrorCode.toString(frame.getError(), null)));
        callback.succeeded();
    }

    @Override
    public void onFailure(Stream stream, int error, String reason, Throwable cause, Callback callback) {
        fail(cause);
        callback.succeeded();
    }

    /// Silence is no reason to end a call.
    @Override
    public void onIdleTimeout(Stream stream, TimeoutException timeout, Promise<Boolean> end) {
        end.succeeded(false);
    }

    private void fail(Throwable cause) {
        synchronized (lock) {
            if (failure == null) {
                failure = cause;
            }
            lock.notifyAll();
        }
    }
}
