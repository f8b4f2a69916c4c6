package dev.cay.proxy;

import dev.cay.http.AnswerStream;
import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.http.RequestBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;

/// Forwards one exchange over one connection: the request's body is sent on a thread of its own, while the caller's
/// thread passes the answer back.
final class Forwarding {
    private static final Duration LINGER = Duration.ofSeconds(2);

    private final Exchange exchange;
    private final UpstreamRequest request;
    private final UpstreamConnection connection;
    private final UpstreamAnswer answer;
    private final CountDownLatch mayContinue = new CountDownLatch(1);
    private volatile boolean answered;
    private volatile boolean sent;
    private boolean using = true;
    private boolean unpacks;

    Forwarding(Exchange exchange, UpstreamRequest request, UpstreamConnection connection) {
        this.exchange = exchange;
        this.request = request;
        this.connection = connection;
        this.answer = new UpstreamAnswer(connection, exchange.method().equals("HEAD"));
    }

    /// Whether the same request may be tried on another connection: the server closed this one while it lay idle.
    boolean wasStale() {
        return connection.reused() && !answer.heard() && request.repeatable() && !connection.wasCut();
    }

    /// True if the connection can be kept.
    boolean run() throws IOException {
        exchange.onEnd(this::clientGone);
        Thread body = sendRequest();
        try {
            readFinalHead();
            if (answer.status() == 101) {
                tunnel();
                return false;
            }
            passHead();
            agreeInSilence();
            if (unpacks) {
                passUnpacked();
            } else {
                passContent();
            }
            return sent && answer.reusable() && release();
        } finally {
            release();
            answered = true;
            mayContinue.countDown();
            if (body != null) {
                settle(body);
            }
        }
    }

    /// Lets a client that has its answer finish sending its request: closing earlier could lose the answer.
    private void settle(Thread body) {
        try {
            if (!sent && exchange.committed()) {
                body.join(LINGER);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!sent) {
            body.interrupt();
        }
    }

    private @Nullable Thread sendRequest() throws IOException {
        if (request.sendWhole(connection)) {
            sent = true;
            mayContinue.countDown();
            return null;
        }
        if (!request.expectsContinue()) {
            mayContinue.countDown();
        }
        return Thread.ofVirtual().start(this::sendBody);
    }

    private void sendBody() {
        try {
            mayContinue.await();
            if (!answered) {
                request.sendBody(connection);
                sent = true;
            }
        } catch (ClientGone e) {
            connection.close();
        } catch (IOException e) {
            // A server may answer without reading all; if it does not answer, the reader of the answer will know.
            discardBody();
        } catch (InterruptedException e) {
            // The exchange is over.
        }
    }

    private void discardBody() {
        RequestBody body = exchange.requestBody();
        try {
            for (ByteBuffer bytes = body.next(); bytes != null; bytes = body.next()) {
                bytes.position(bytes.limit());
                body.release();
            }
        } catch (IOException e) {
            // The client stopped too.
        }
    }

    private void readFinalHead() throws IOException {
        answer.readHead();
        while (answer.status() < 200 && answer.status() != 101) {
            if (answer.status() == 100) {
                mayContinue.countDown();
            } else {
                exchange.answer().interim(answer.status(), AnswerHeaders.passable(answer.fields(), exchange));
            }
            answer.readHead();
        }
        if (answer.status() == 101 && !request.wantsUpgrade()) {
            throw new IOException("the server switched protocols unasked");
        }
        PartialAnswers.refuse(LastHop.scrub(exchange), answer.status(), answer.fields());
        unpacks = !answer.bodiless() && CompressedAnswer.isUnpacked(LastHop.scrub(exchange), answer.fields());
    }

    private void passHead() {
        Response response = exchange.response();
        response.setStatus(answer.status());
        for (HttpField field : AnswerHeaders.passable(answer.fields(), exchange)) {
            boolean misplaced = answer.status() == 204 && field.getHeader() == HttpHeader.CONTENT_LENGTH;
            if (!misplaced && !(unpacks && CompressedAnswer.isOfCoding(field))) {
                response.getHeaders().add(field);
            }
        }
        // Only chunked answers have an end after which trailers could come, announced or not.
        if (answer.fields().contains(HttpHeader.TRANSFER_ENCODING) && LastHop.passesTrailers(exchange)) {
            response.setTrailersSupplier(() -> AnswerHeaders.struck(answer.trailers(), LastHop.scrub(exchange)));
        }
    }

    /// Starts to read the body for servers that wait for it without having sent `100 Continue`. The request's head must
    /// be sent before the body is looked at, because that sends `100 Continue` to the client.
    private void agreeInSilence() throws IOException {
        if (mayContinue.getCount() > 0 && answer.status() < 300) {
            exchange.answer().flush();
            mayContinue.countDown();
        }
    }

    private void passContent() throws IOException {
        AnswerStream out = exchange.answer();
        Scrub scrub = LastHop.scrub(exchange);
        ByteBuffer held = null;
        while (true) {
            // Held back only while more is available, so that a short answer leaves in one piece.
            ByteBuffer more = answer.content();
            if (more != null && scrub != null) {
                more = scrub.pass(more);
            }
            if (more != null) {
                if (held != null) {
                    out.send(held);
                }
                held = more;
            } else if (answer.complete()) {
                if (scrub != null) {
                    held = together(held, scrub.rest());
                }
                finish(out, held);
                return;
            } else if (!connection.input().hasRemaining()) {
                if (held != null) {
                    out.send(held);
                    held = null;
                } else {
                    out.flush();
                }
                answer.fetch();
            }
        }
    }

    /// Passes on content that is compressed, without its coding and without the values that are struck out.
    private void passUnpacked() throws IOException {
        AnswerStream out = exchange.answer();
        Scrub scrub = Objects.requireNonNull(LastHop.scrub(exchange));
        try (var unpacked = CompressedAnswer.open(answer)) {
            for (ByteBuffer piece = unpacked.next(); piece != null; piece = unpacked.next()) {
                ByteBuffer passed = scrub.pass(piece);
                if (passed.hasRemaining()) {
                    out.send(passed);
                }
            }
        }
        out.finish(scrub.rest());
    }

    private static @Nullable ByteBuffer together(@Nullable ByteBuffer first, ByteBuffer second) {
        if (first == null) {
            return second.hasRemaining() ? second : null;
        }
        return ByteBuffer.allocate(first.remaining() + second.remaining())
                .put(first)
                .put(second)
                .flip();
    }

    private void finish(AnswerStream out, @Nullable ByteBuffer last) throws IOException {
        if (last == null && exchange.method().equals("HEAD")) {
            // Otherwise Jetty would add `Content-Length: 0`, which is wrong for the body of an answer to HEAD.
            out.flush();
        }
        out.finish(last == null ? ByteBuffer.allocate(0) : last);
    }

    private void tunnel() throws IOException {
        new Tunnel(exchange, connection, answer).run();
    }

    /// Ends the connection when the client has disconnected. Does nothing after the connection was returned to the
    /// pool.
    private synchronized void clientGone() {
        if (using) {
            connection.close();
        }
    }

    private synchronized boolean release() {
        using = false;
        return true;
    }
}
