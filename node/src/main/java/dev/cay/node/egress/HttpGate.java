package dev.cay.node.egress;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.proxy.OutboundExchange;
import dev.cay.proxy.RequestRule;
import dev.cay.proxy.ReverseProxy;
import dev.cay.proxy.Upstream;
import dev.cay.proxy.WithheldHeaders;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Placeholders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Answers HTTP of sandboxes in place of servers outside: judges every request, changes it by the rules, and passes it
/// on.
final class HttpGate implements Handler {
    private static final Logger log = LoggerFactory.getLogger(HttpGate.class);

    private final HttpBridge bridge;
    private final Upstreams upstreams;
    private final UpstreamTls tls;
    private final ReverseProxy proxy;
    private volatile Placeholders placeholders = Placeholders.NONE;

    HttpGate(HttpBridge bridge, Upstreams upstreams, UpstreamTls tls, ReverseProxy proxy) {
        this.bridge = bridge;
        this.upstreams = upstreams;
        this.tls = tls;
        this.proxy = proxy;
    }

    void fillPlaceholders(Placeholders values) {
        placeholders = values;
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        var found = bridge.find(exchange);
        if (found.isEmpty()) {
            exchange.abort("this connection was not announced");
            return;
        }
        var connection = found.get();
        connection.opened();
        if (!connection.sandbox().beginRequest()) {
            refuse(exchange, 503, "this sandbox has too many requests under way");
            return;
        }
        try {
            OutboundExchange.mark(exchange);
            withholdUpgrade(exchange);
            if (exchange.method().equals("CONNECT")) {
                noteRefusal(exchange, connection);
                refuse(exchange, 405, "CONNECT is not passed on: connect to the host itself");
            } else if (connection.route() == Route.REQUESTS) {
                plain(exchange, connection);
            } else {
                opened(exchange, connection);
            }
        } finally {
            connection.sandbox().endRequest();
        }
    }

    /// Allows only upgrades to WebSocket, whose content is not judged. Other protocols, like HTTP/2, could carry
    /// requests that nothing judges.
    private static void withholdUpgrade(Exchange exchange) {
        String wanted = exchange.header("Upgrade");
        if (wanted != null && !wanted.strip().equalsIgnoreCase("websocket")) {
            WithheldHeaders.headers(exchange, Set.of("upgrade", "http2-settings"));
        }
    }

    private void plain(Exchange exchange, HttpBridge.Bridged connection) throws IOException {
        var rules = connection.sandbox().rules();
        var destination = connection.destination();
        String host = FirstBytes.hostOf(exchange.authority());
        boolean byName = host != null && rules.allowsName(host, destination.getPort());
        if (!byName && !(rules.allowsAddress(destination) && upstreams.permits(destination))) {
            note(connection, host, destination, false, "none");
            refuse(exchange, 403, "the network rules of this sandbox do not allow " + shown(exchange));
            return;
        }
        if (host != null) {
            connection.asks(host);
        }
        List<InetSocketAddress> places;
        try {
            places = host != null && byName ? upstreams.find(host, destination.getPort()) : List.of(destination);
        } catch (Upstreams.Closed e) {
            note(connection, host, destination, false, "none");
            refuse(exchange, 403, e.getMessage());
            return;
        } catch (IOException e) {
            refuse(exchange, 502, "no address for " + shown(exchange));
            return;
        }
        String byAddress = rules.namesAddress(destination) ? "address" : "none";
        var row = note(connection, host, places.getFirst(), true, byName ? "domain" : byAddress);
        String key = connection.key() + " " + host;
        pass(exchange, upstream(key, places, rules.egress(), null, null), row);
    }

    /// The certificate that the client saw, the server's that the node sees, and every request are for one
    /// host.
    private void opened(Exchange exchange, HttpBridge.Bridged connection) throws IOException {
        String host = connection.host();
        if (!host.equals(hostPart(exchange.authority()))) {
            noteRefusal(exchange, connection);
            refuse(exchange, 421, "this connection was opened for %s, not for %s".formatted(host, shown(exchange)));
            return;
        }
        var rules = connection.sandbox().rules();
        String redirect = rules.transform(host).map(Egress.Transform::redirect).orElse(null);
        // A redirect leads to another host, which gets the secrets.
        String reached =
                redirect == null ? host : Egress.Destination.parse(redirect).host();
        try {
            var transform = rules.transform(host);
            if (transform.isPresent()) {
                RequestRule.apply(
                        exchange,
                        transform.get(),
                        placeholders,
                        connection.sandbox().id(),
                        reached);
            }
        } catch (Placeholders.Unknown e) {
            refuse(exchange, 502, e.getMessage());
            return;
        }
        connection.prepared().await();
        try {
            pass(exchange, upstream(connection, rules), null);
        } catch (Upstreams.Closed e) {
            refuse(exchange, 403, e.getMessage());
        } catch (UnknownHostException e) {
            refuse(exchange, 502, "no address for " + shown(exchange));
        }
    }

    /// The target of requests of a connection whose TLS was opened. The address is part of the key: rules may change,
    /// and a request with headers for one server must not go to another on a kept connection.
    private Upstream upstream(HttpBridge.Bridged connection, EgressRules rules) throws IOException {
        String host = connection.host();
        String redirect = rules.transform(host).map(Egress.Transform::redirect).orElse(null);
        String target = redirect == null ? host : host + " " + redirect;
        connection.asks(target);
        String key = connection.key() + " " + target;
        var places = places(connection, rules);
        String name =
                redirect == null ? host : Egress.Destination.parse(redirect).host();
        return upstream(
                key,
                places,
                rules.egress(),
                redirect,
                tls.to(name, places.getFirst().getPort()));
    }

    /// The addresses that requests of an opened connection go to.
    List<InetSocketAddress> places(HttpBridge.Bridged connection, EgressRules rules) throws IOException {
        var destination = connection.destination();
        String redirect = rules.transform(connection.host())
                .map(Egress.Transform::redirect)
                .orElse(null);
        if (redirect != null) {
            var other = Egress.Destination.parse(redirect);
            return upstreams.find(other.host(), other.port() == 0 ? destination.getPort() : other.port());
        }
        return connection.route().byName()
                ? upstreams.find(connection.host(), destination.getPort())
                : List.of(destination);
    }

    /// Connects to the server during the sandbox's TLS handshake. If that fails, the first request reports why.
    void prepare(HttpBridge.Bridged connection) {
        connection.prepared().begin(() -> {
            try {
                proxy.prepare(upstream(connection, connection.sandbox().rules()));
            } catch (IOException | RuntimeException e) {
                log.atDebug()
                        .setCause(e)
                        .addKeyValue("sandbox", connection.sandbox().id())
                        .log("an early connection to an upstream server failed");
            }
            if (connection.over()) {
                end(connection);
            }
        });
    }

    private Upstream upstream(
            String key,
            List<InetSocketAddress> places,
            Egress egress,
            @Nullable String host,
            Upstream.@Nullable Securing securing) {
        return new Upstream(key, places.getFirst().getPort(), _ -> upstreams.open(places, egress), host, securing);
    }

    /// @param row where bytes are counted; null if the connection counts them
    private void pass(Exchange exchange, Upstream upstream, EgressLog.@Nullable Row row) {
        try {
            proxy.forward(exchange, upstream);
        } catch (IOException e) {
            if (exchange.committed()) {
                exchange.abort("the server outside broke off");
            } else {
                refuse(exchange, 502, "%s does not answer: %s".formatted(shown(exchange), UpstreamTls.why(e)));
            }
        } finally {
            if (row != null) {
                row.sent.add(exchange.bytesRead());
                row.received.add(exchange.bytesWritten());
            }
        }
    }

    private static EgressLog.Row note(
            HttpBridge.Bridged connection,
            @Nullable String host,
            InetSocketAddress place,
            boolean allowed,
            String match) {
        return connection
                .sandbox()
                .log()
                .note("http", host, place.getAddress().getHostAddress(), place.getPort(), allowed, match);
    }

    /// Notes a request for another host than the connection's.
    private static void noteRefusal(Exchange exchange, HttpBridge.Bridged connection) {
        note(connection, shown(exchange), connection.destination(), false, "none");
    }

    /// Closes the prepared connection of an ended one.
    void end(HttpBridge.Bridged connection) {
        connection.hosts().forEach(host -> proxy.cut(connection.key() + " " + host));
    }

    private static String hostPart(String authority) {
        String plain = HostPattern.plain(authority);
        int colon = plain.lastIndexOf(':');
        return HostPattern.plain(colon > plain.lastIndexOf(']') ? plain.substring(0, colon) : plain);
    }

    /// The request's line, short enough for a message.
    private static String shown(Exchange exchange) {
        String host = hostPart(exchange.authority());
        return host.length() > 253 ? host.substring(0, 253) : host;
    }

    private static void refuse(Exchange exchange, int status, @Nullable String why) {
        exchange.send(status, "text/plain; charset=utf-8", ("Cay: " + why + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
