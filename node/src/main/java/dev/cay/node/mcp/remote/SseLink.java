package dev.cay.node.mcp.remote;

import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.web.Deadline;
import dev.cay.web.Dialer;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// A connection by the transport of 2024-11-05: one stream carries all answers, and its first event gives the address
/// for requests.
final class SseLink implements ServerLink {
    private static final int MOST_BEFORE = 16;

    private final LinkTarget call;
    private final InboundMessages inbound;
    private final Posts posts;
    private final URI endpoint;
    private final Consumer<ServerLink> gone;
    private final AtomicBoolean closed = new AtomicBoolean();

    private SseLink(LinkTarget call, InboundMessages inbound, Posts posts, URI endpoint, Consumer<ServerLink> gone) {
        this.call = call;
        this.inbound = inbound;
        this.posts = posts;
        this.endpoint = endpoint;
        this.gone = gone;
    }

    static SseLink open(LinkTarget call, InboundMessages inbound, Posts posts, Consumer<ServerLink> gone)
            throws IOException {
        var request = new WebClient.Request("GET", call.url(), Map.of("Accept", "text/event-stream"), null);
        var reply = call.client().send(request, call.limits().quick());
        if (reply.answer().status() != 200 || !reply.answer().type().equals("text/event-stream")) {
            throw new IOException("it answered HTTP %d".formatted(reply.answer().status()));
        }
        var room = reply.room();
        var events = new EventStream(reply.answer().content(), room);
        var link = new SseLink(
                call, inbound, posts, endpoint(reply, events, call.limits().quick()), gone);
        Thread.ofVirtual().name("mcp-remote").start(() -> link.read(reply, room, events));
        return link;
    }

    /// The address for requests. It must have the same origin, because the user's credentials are sent there.
    private static URI endpoint(WebClient.Reply reply, EventStream events, Duration limit) throws IOException {
        try (var _ = Deadline.start(limit, reply.answer().line())) {
            for (int before = 0; before < MOST_BEFORE; before++) {
                var event = events.next().orElseThrow(() -> new IOException("it ended the stream at once"));
                if (event.name().equals("endpoint")) {
                    var url = reply.url().resolve(new String(event.data(), StandardCharsets.UTF_8).strip());
                    if (url.getHost() != null && UrlOrigin.of(url).equals(UrlOrigin.of(reply.url()))) {
                        return url;
                    }
                    throw new IOException("it wants messages to be sent to another server");
                }
            }
            throw new IOException("it does not say where messages are to be sent");
        } catch (IllegalArgumentException _) {
            throw new IOException("it wants messages to be sent to an address that is none");
        }
    }

    private void read(WebClient.Reply reply, MessageMemory room, EventStream events) {
        try (reply;
                room) {
            for (var event = events.next(); event.isPresent() && inbound.open(); event = events.next()) {
                if (event.get().name().equals("message")) {
                    inbound.messages(event.get().data()).forEach(inbound::hear);
                }
            }
            inbound.over("%s has ended the connection".formatted(call.name()));
        } catch (IOException e) {
            inbound.over("the connection to %s is lost: %s".formatted(call.name(), Dialer.why(e)));
        }
    }

    @Override
    public void send(Message message) {
        posts.send(message, this::post);
    }

    private void post(Message message) throws IOException {
        var headers = Map.of("Accept", "application/json, text/event-stream", "Content-Type", "application/json");
        var request = new WebClient.Request("POST", endpoint, headers, message.bytes());
        String refused;
        try (var reply = call.client().send(request, call.limits().quick())) {
            int status = reply.answer().status();
            if (reply.answer().succeeded()) {
                drain(reply, call.limits().quick());
                return;
            }
            refused = "%s answered HTTP %d".formatted(call.name(), status);
            if (status == 401 || status == 403) {
                inbound.over(refused + "; look at the credentials given for it");
            }
        }
        if (message.kind() != Message.Kind.REQUEST) {
            throw new CayException(ErrorKind.UNAVAILABLE, refused);
        }
        inbound.hear(Message.error(message.id(), new RpcException(RpcException.INTERNAL_ERROR, refused)));
    }

    /// A word or none, after which the connection can be used again.
    private static void drain(WebClient.Reply reply, Duration limit) throws IOException {
        try (var _ = Deadline.start(limit, reply.answer().line())) {
            reply.answer().content().readNBytes(1024);
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            inbound.close();
            call.client().close();
            gone.accept(this);
        }
    }
}
