package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// The bridge from Jetty to Cay: makes an {@link Exchange} of a request and passes it to its listener's handler.
final class ExchangeAdapter extends org.eclipse.jetty.server.Handler.Abstract {
    private final ClientAddresses clients;
    private final AtomicInteger running = new AtomicInteger();
    private final LargeMessages messages = new LargeMessages();
    private final Deadlines deadlines = new Deadlines();

    ExchangeAdapter(ClientAddresses clients) {
        this.clients = clients;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        ClientEndPoint endPoint = endPoint(request);
        var exchange = new Exchange(request, response, callback, endPoint, messages, deadlines, clients);
        ListeningPort listener = endPoint.listener();
        running.incrementAndGet();
        listener.running().incrementAndGet();
        try {
            admit(listener);
            listener.handler().handle(exchange);
            finish(exchange);
        } catch (Throwable failure) {
            ErrorRenderer.render(exchange, failure);
            finish(exchange);
        } finally {
            running.decrementAndGet();
            listener.running().decrementAndGet();
            // The thread continues with the connection's next request, which must not inherit an interrupt.
            Thread.interrupted();
        }
        return true;
    }

    private static void finish(Exchange exchange) {
        try {
            exchange.completeAnswer();
        } catch (IOException e) {
            ErrorRenderer.render(exchange, e);
        }
        exchange.end();
    }

    private static void admit(ListeningPort listener) throws InterruptedException {
        if (listener.isBusy()) {
            throw new CayException(ErrorKind.EXHAUSTED, "too many requests at once from inside this sandbox");
        }
        if (listener.rateLimiter() != null) {
            listener.rateLimiter().await();
        }
    }

    /// Waits for open exchanges, but not longer than `limit`.
    void drain(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        // Streams may live for hours, so there is no event to wait for that would surely come.
        while (running.get() > 0 && System.nanoTime() < end) {
            Thread.sleep(5);
        }
    }

    /// Runs after the last exchange.
    void close() {
        deadlines.close();
    }

    private static ClientEndPoint endPoint(Request request) {
        EndPoint endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
        while (endPoint instanceof EndPoint.Wrapper wrapper) {
            endPoint = wrapper.unwrap();
        }
        return (ClientEndPoint) endPoint;
    }
}
