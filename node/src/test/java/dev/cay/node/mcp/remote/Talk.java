package dev.cay.node.mcp.remote;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.HostRoots;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// A client of one remote server: a home with its dialer, and what is heard.
final class Talk implements AutoCloseable {
    static final String SECRET = "Bearer s3cret";
    static final String INITIALIZED = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    static final Limits SHORT =
            new Limits(Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofMillis(200));

    private final Dialer dialer;
    private final RemoteHome home;
    private final Heard heard = new Heard();
    private @Nullable ServerLink link;

    Talk(URI url, ServerLaunch.Transport transport, Dialer dialer) {
        this.dialer = dialer;
        this.home = new RemoteHome(
                "wiki",
                new LaunchPlan.Remote(url, transport, Map.of("Authorization", SECRET)),
                dialer,
                RemoteCredentials.NONE,
                () -> true,
                SHORT);
    }

    static Talk streamable(URI url) {
        return new Talk(url, ServerLaunch.Transport.STREAMABLE_HTTP, dialer("127.0.0.1"));
    }

    static Talk sse(URI url) {
        return new Talk(url, ServerLaunch.Transport.SSE, dialer("127.0.0.1"));
    }

    static Dialer dialer(String... allowed) {
        return dialer(host -> List.of(InetAddress.getAllByName(host)), null, allowed);
    }

    static Dialer dialer(Dialer.Names names, @Nullable SSLContext tls, String... allowed) {
        return new Dialer(Addresses.allowing(List.of(allowed)), names, tls == null ? HostRoots.tls() : tls, null);
    }

    Talk connect() {
        link = home.connect(heard);
        return this;
    }

    Talk send(String json) {
        return send(Message.parse(json.getBytes(StandardCharsets.UTF_8)));
    }

    private Talk send(Message message) {
        Objects.requireNonNull(link).send(message);
        return this;
    }

    /// As gateways do, whose ids are counted, not read.
    Talk ask(long id, String method) {
        var number = Json.mapper().getNodeFactory().numberNode(id);
        return send(Message.request(number, method, Json.mapper().createObjectNode()));
    }

    /// Connects and does what comes first.
    Talk begin() throws InterruptedException {
        connect().ask(0, "initialize");
        heard.next();
        return send(INITIALIZED);
    }

    Heard heard() {
        return heard;
    }

    String next() throws InterruptedException {
        return heard.next();
    }

    /// The sentence of an error that answers this request.
    String error(int id) throws InterruptedException {
        String next = heard.next();
        while (next.startsWith("let go")) {
            next = heard.next();
        }
        var tree = Json.mapper().readTree(next);
        return tree.path("id").asInt() == id
                ? tree.path("error").path("message").asString("")
                : "not " + id;
    }

    void hangUp() {
        Objects.requireNonNull(link).close();
    }

    @Override
    public void close() {
        home.close();
        dialer.close();
    }
}
