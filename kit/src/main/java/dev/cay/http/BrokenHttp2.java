package dev.cay.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;

/// The end of an HTTP/2 connection whose client broke the rules.
///
/// Jetty says goodbye and closes when that was sent. Once the head of an answer was larger than the client allows,
/// it can send nothing more: then it waits for ever, neither reads nor looks at the clock, and the descriptor is lost
/// though the client has long gone.
final class BrokenHttp2 {
    /// For the goodbye, which tells a client what it did wrong.
    private static final Duration GOODBYE = Duration.ofSeconds(5);

    private BrokenHttp2() {}

    static void closeSoon(Connector connector, EndPoint endPoint) {
        connector.getScheduler().schedule(endPoint::close, GOODBYE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
