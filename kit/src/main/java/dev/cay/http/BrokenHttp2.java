package dev.cay.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;

/// Closes an HTTP/2 connection whose client broke the rules.
///
/// Jetty sends GOAWAY and closes after that was sent. Once the head of an answer was larger than the client allows,
/// Jetty can send nothing more: it waits for ever, and the descriptor leaks though the client has disconnected.
final class BrokenHttp2 {
    /// Time for sending GOAWAY, which tells a client what it did wrong.
    private static final Duration GOODBYE = Duration.ofSeconds(5);

    private BrokenHttp2() {}

    static void closeSoon(Connector connector, EndPoint endPoint) {
        connector.getScheduler().schedule(endPoint::close, GOODBYE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
