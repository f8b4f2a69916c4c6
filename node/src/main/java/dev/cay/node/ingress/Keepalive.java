package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import java.time.Duration;

/// How long a stream may be silent before a keep-alive message is sent.
final class Keepalive {
    private static final Duration USUAL = Duration.ofSeconds(90);

    private Keepalive() {}

    /// The interval that the client asks for, in whole seconds.
    static Duration of(Exchange exchange) {
        String text = exchange.header("Keepalive-Ping-Interval");
        return text != null && text.matches("[1-9][0-9]{0,5}") ? Duration.ofSeconds(Long.parseLong(text)) : USUAL;
    }
}
