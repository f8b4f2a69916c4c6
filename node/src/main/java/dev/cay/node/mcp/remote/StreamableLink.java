package dev.cay.node.mcp.remote;

import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.web.Deadline;
import dev.cay.web.WebAnswer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A connection by streamable HTTP: each message is a request of its own, and a session holds them together.
final class StreamableLink implements ServerLink {
    private static final Duration LINGER = Duration.ofSeconds(5);
    private static final Duration FAREWELL = Duration.ofSeconds(5);
    private static final Duration STEADY = Duration.ofSeconds(10);
    private static final int MOST_TRIES = 5;
    private static final String EVENTS = "text/event-stream";
    private static final String JSON = "application/json";

    private final LinkTarget call;
    private final InboundMessages inbound;
    private final Posts posts;
    private final Consumer<ServerLink> gone;
    private final AtomicBoolean listening = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable String session;
    private volatile @Nullable String revision;

    private StreamableLink(LinkTarget call, InboundMessages inbound, Posts posts, Consumer<ServerLink> gone) {
        this.call = call;
        this.inbound = inbound;
        this.posts = posts;
        this.gone = gone;
    }

    static StreamableLink open(LinkTarget call, InboundMessages inbound, Posts posts, Consumer<ServerLink> gone)
            throws IOException {
        call.client().reach();
        return new StreamableLink(call, inbound, posts, gone);
    }

    @Override
    public void send(Message message) {
        posts.send(message, message.kind() == Message.Kind.REQUEST ? this::ask : this::tell);
    }

    /// A request that fails has failed alone, but for the first: without it there is no connection.
    private void ask(Message request) throws IOException {
        boolean first = request.method().equals("initialize");
        try (var reply =
                post(request, first ? call.limits().first() : call.limits().longest())) {
            if (!reply.answer().succeeded()) {
                refused(request, reply, first);
                return;
            }
            if (first) {
                session = session(reply.answer());
            }
            answered(request, reply);
        } catch (IOException e) {
            if (first) {
                throw e;
            }
            fail(request, posts.sentence(e));
        }
    }

    private void tell(Message message) throws IOException {
        try (var reply = post(message, call.limits().quick())) {
            if (!reply.answer().succeeded()) {
                String reason = ended(reply.answer());
                if (!reason.isEmpty()) {
                    inbound.over(reason);
                }
                throw new CayException(ErrorKind.UNAVAILABLE, reason.isEmpty() ? status(reply.answer()) : reason);
            }
        }
        if (message.method().equals("notifications/initialized") && listening.compareAndSet(false, true)) {
            Thread.ofVirtual().name("mcp-remote").start(this::listen);
        }
    }

    private WebClient.Reply post(Message message, Duration limit) throws IOException {
        var headers = headers(JSON + ", " + EVENTS);
        headers.put("Content-Type", JSON);
        return call.client().send(new WebClient.Request("POST", call.url(), headers, message.bytes()), limit);
    }

    private Map<String, String> headers(String accepted) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("Accept", accepted);
        if (session != null) {
            headers.put("Mcp-Session-Id", session);
        }
        if (revision != null) {
            headers.put("MCP-Protocol-Version", revision);
        }
        return headers;
    }

    private static @Nullable String session(WebAnswer answer) throws IOException {
        String id = answer.header("Mcp-Session-Id");
        if (!id.matches("[\\x21-\\x7e]{0,1024}")) {
            throw new IOException("its session has a name that cannot be sent");
        }
        return id.isEmpty() ? null : id;
    }

    private void answered(Message request, WebClient.Reply reply) throws IOException {
        switch (reply.answer().type()) {
            case JSON -> {
                if (!whole(request, reply)) {
                    fail(request, "%s answered with something that is no answer".formatted(call.name()));
                }
            }
            case EVENTS -> stream(request, reply);
            default -> fail(request, "%s does not answer in the way of MCP".formatted(call.name()));
        }
    }

    private boolean whole(Message request, WebClient.Reply reply) throws IOException {
        try (var room = reply.room();
                var _ = Deadline.start(call.limits().first(), reply.answer().line())) {
            return heard(inbound.messages(reply.bytes(room)), request);
        }
    }

    /// Follows the stream of a request. A stream may end early on purpose; then it is resumed.
    private void stream(Message request, WebClient.Reply begun) {
        var cursor = new Cursor();
        var end = System.nanoTime() + call.limits().longest().toNanos();
        boolean done = read(begun, request, cursor);
        for (int tries = 0; !done && tries < MOST_TRIES && System.nanoTime() < end; tries++) {
            String before = cursor.id();
            if (before == null || !inbound.open()) {
                break;
            }
            inbound.letGo(request.id());
            if (!cursor.await(tries)) {
                break;
            }
            try (var again = get(before)) {
                if (again.answer().status() != 200) {
                    break;
                }
                done = read(again, request, cursor);
            } catch (IOException _) {
                continue;
            }
            tries = before.equals(cursor.id()) ? tries : -1;
        }
        if (!done) {
            fail(request, "%s broke off before its answer".formatted(call.name()));
        }
    }

    private WebClient.Reply get(@Nullable String after) throws IOException {
        var headers = headers(EVENTS);
        if (after != null) {
            headers.put("Last-Event-ID", after);
        }
        return call.client()
                .send(
                        new WebClient.Request("GET", call.url(), headers, null),
                        call.limits().longest());
    }

    /// @param request the request that the stream answers; null for none
    /// @return whether the answer was in the stream
    private boolean read(WebClient.Reply reply, @Nullable Message request, Cursor cursor) {
        boolean done = false;
        Deadline linger = null;
        try (var room = reply.room()) {
            var events = new EventStream(reply.answer().content(), room);
            try {
                for (var event = events.next(); event.isPresent() && inbound.open(); event = events.next()) {
                    if (event.get().data().length > 0 && event.get().name().equals("message")) {
                        done |= heard(inbound.messages(event.get().data()), request);
                    }
                    if (done && linger == null) {
                        // Nothing has to come after that, but the end.
                        linger = Deadline.start(LINGER, reply.answer().line());
                    }
                }
            } catch (IOException _) {
                // Treated like an end: only the position matters.
            } finally {
                cursor.move(events);
            }
        } finally {
            if (linger != null) {
                linger.close();
            }
        }
        return done;
    }

    private boolean heard(List<Message> messages, @Nullable Message request) {
        boolean answer = false;
        for (var message : messages) {
            if (request != null && message.answers(request)) {
                answer = true;
                if (request.method().equals("initialize")) {
                    revision = revision(message);
                }
            }
            inbound.hear(message);
        }
        return answer;
    }

    private static @Nullable String revision(Message initialized) {
        String named = initialized.tree().path("result").path("protocolVersion").asString("");
        return named.matches("[\\x21-\\x7e]{1,40}") ? named : null;
    }

    /// Follows the stream of messages that belong to no request. It is optional, and servers refuse it in many ways,
    /// also with the status that elsewhere means the end of a session.
    private void listen() {
        var cursor = new Cursor();
        for (int failures = 0; failures < MOST_TRIES && inbound.open(); failures++) {
            long begun = System.nanoTime();
            try (var reply = get(cursor.id())) {
                if (reply.answer().status() != 200 || !reply.answer().type().equals(EVENTS)) {
                    return;
                }
                read(reply, null, cursor);
            } catch (IOException | CayException _) {
                // Retried a few times; the other messages show better what is wrong.
            }
            if (System.nanoTime() - begun > STEADY.toNanos()) {
                failures = 0;
            }
            if (!cursor.await(failures)) {
                return;
            }
        }
    }

    private void refused(Message request, WebClient.Reply reply, boolean first) throws IOException {
        if (over(reply.answer())) {
            return;
        }
        if (first) {
            inbound.over(status(reply.answer()));
        } else if (!reply.answer().type().equals(JSON) || !whole(request, reply)) {
            fail(request, status(reply.answer()));
        }
    }

    private boolean over(WebAnswer answer) {
        String reason = ended(answer);
        if (!reason.isEmpty()) {
            inbound.over(reason);
        }
        return !reason.isEmpty();
    }

    /// Why the connection cannot be used any more; empty if it can.
    private String ended(WebAnswer answer) {
        return switch (answer.status()) {
            case 401, 403 -> status(answer) + "; look at the credentials given for it";
            case 404 -> session == null ? "" : "%s has ended the session (HTTP 404)".formatted(call.name());
            default -> "";
        };
    }

    private String status(WebAnswer answer) {
        return "%s answered HTTP %d".formatted(call.name(), answer.status());
    }

    private void fail(Message request, String reason) {
        inbound.hear(Message.error(request.id(), new RpcException(RpcException.INTERNAL_ERROR, reason)));
    }

    /// Ends the session in the background, because the server may be slow.
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        inbound.close();
        call.client().close();
        gone.accept(this);
        if (session != null) {
            Thread.ofVirtual().name("mcp-remote").start(this::farewell);
        }
    }

    private void farewell() {
        var request = new WebClient.Request("DELETE", call.url(), headers(JSON), null);
        try (var client = call.other().get();
                var _ = client.send(request, FAREWELL)) {
            // Whatever it says.
        } catch (IOException | CayException _) {
            // The server will notice by itself that the client is gone.
        }
    }
}
