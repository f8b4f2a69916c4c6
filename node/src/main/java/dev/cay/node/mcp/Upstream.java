package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.life.WaitLimits;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.wire.CayException;
import dev.cay.wire.CayVersion;
import java.io.Serial;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One initialized connection to a server. Thread-safe.
///
/// Ids and progress tokens are mapped, because a client's are unique only within that client.
final class Upstream implements ServerLink.Listener, AutoCloseable {
    static final String VERSION = "2025-11-25";
    private static final int MOST_AT_ONCE = 256;

    /// Receives messages that the server sends by itself.
    interface Audience {
        /// @param about the call it most likely belongs to, if one is under way
        void request(Upstream from, Message request, Optional<Call> about);

        void notification(Upstream from, Message notification, Optional<Call> about);

        void over(Upstream from, String reason);
    }

    /// The server, as a connection to it needs it.
    interface Server {
        String key();

        /// How long it may take to answer `initialize`.
        Duration helloLimit();

        /// Ends calls that take too long, of all its connections.
        WaitLimits limits();

        /// Connects to it, and starts it if it does not run.
        ///
        /// @param listener gets its messages
        ServerLink link(ServerLink.Listener listener);

        /// Connections that are being made. The server closes them when it ends, because the end of its process is not
        /// reported to them.
        Set<Upstream> opening();

        /// It cannot be used.
        void failed(String why);
    }

    /// A client's call.
    interface Call {
        /// Something that comes before the answer.
        void send(Message message);

        /// The server has closed its stream, and the gateway reconnects for the rest.
        void letGo();

        /// The client's progress token; missing without one.
        JsonNode progressToken();
    }

    private record ServerWait(@Nullable Call call, Runnable sign, CompletableFuture<Message> answer) {}

    private final Server server;
    private final Audience audience;
    private final ConcurrentMap<Long, ServerWait> waiting = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final NotificationLimit notificationLimit = new NotificationLimit();
    private volatile @Nullable String over;
    private volatile long used = System.nanoTime();
    private volatile @Nullable ServerLink link;
    private JsonNode capabilities = Json.mapper().createObjectNode();
    private String instructions = "";

    private Upstream(Server server, Audience audience) {
        this.server = server;
        this.audience = audience;
    }

    /// Connects and sends `initialize`.
    ///
    /// @param hello parameters of `initialize` as the client sent them
    static Upstream open(Server server, ObjectNode hello, Audience audience) {
        var upstream = new Upstream(server, audience);
        server.opening().add(upstream);
        try {
            upstream.link = server.link(upstream);
            upstream.greet(hello);
            return upstream;
        } catch (RuntimeException e) {
            upstream.close();
            throw e;
        } finally {
            server.opening().remove(upstream);
        }
    }

    private void greet(ObjectNode hello) {
        var params = Json.mapper().createObjectNode().put("protocolVersion", VERSION);
        params.set(
                "capabilities",
                hello.path("capabilities").isObject()
                        ? hello.path("capabilities")
                        : Json.mapper().createObjectNode());
        params.set("clientInfo", clientInfo(hello.path("clientInfo")));
        var answer = call("initialize", params, null, server.helloLimit());
        var result = answer.tree().path("result");
        if (!result.isObject()) {
            throw new RpcException(
                    RpcException.INTERNAL_ERROR,
                    "%s refused to begin: %s"
                            .formatted(
                                    server.key(),
                                    Texts.brief(answer.tree()
                                            .path("error")
                                            .path("message")
                                            .asString(""))));
        }
        capabilities = result.path("capabilities");
        instructions = result.path("instructions").asString("");
        tell("notifications/initialized", Json.mapper().createObjectNode());
    }

    private static ObjectNode clientInfo(JsonNode given) {
        if (given instanceof ObjectNode info && info.path("name").isString()) {
            return info;
        }
        return Json.mapper().createObjectNode().put("name", "cay").put("version", CayVersion.text());
    }

    Server server() {
        return server;
    }

    boolean can(String capability) {
        return capabilities.has(capability);
    }

    String instructions() {
        return instructions;
    }

    boolean isOver() {
        return over != null;
    }

    /// How long the connection is unused; empty while a caller waits.
    Duration idle() {
        return waiting.isEmpty() ? Duration.ofNanos(System.nanoTime() - used) : Duration.ZERO;
    }

    /// Sends a request and waits. Progress of the server extends the limit.
    ///
    /// @param call  the client's call; null for the gateway itself
    /// @param limit without progress
    /// @return the server's response, with the mapped id
    Message call(String method, JsonNode params, @Nullable Call call, Duration limit) {
        if (waiting.size() >= MOST_AT_ONCE) {
            throw new RpcException(
                    RpcException.INTERNAL_ERROR,
                    "%s has %d calls under way, which is all it may have".formatted(server.key(), MOST_AT_ONCE));
        }
        long id = ids.incrementAndGet();
        used = System.nanoTime();
        var alive = new AtomicLong(System.nanoTime());
        var one = new ServerWait(call, () -> alive.set(System.nanoTime()), new CompletableFuture<>());
        waiting.put(id, one);
        try {
            requireThere();
            send(request(id, method, params, call));
            return await(one, alive, method, limit);
        } catch (InterruptedException | RpcTimeout e) {
            cancel(id, e instanceof InterruptedException ? "the client called it off" : "it took too long");
            if (e instanceof RpcTimeout late) {
                throw new RpcException(
                        RpcException.INTERNAL_ERROR, late.getMessage() + (call == null ? lastWords() : ""));
            }
            Thread.currentThread().interrupt();
            throw new RpcException(RpcException.INTERNAL_ERROR, "called off");
        } finally {
            waiting.remove(id);
        }
    }

    /// The last lines of the server's stderr, which may say why it is late. For operators, not for clients.
    private String lastWords() {
        var to = link;
        return to == null ? "" : to.lastWords();
    }

    private static final class RpcTimeout extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        RpcTimeout(String message) {
            super(message);
        }
    }

    private Message await(ServerWait one, AtomicLong alive, String method, Duration limit)
            throws InterruptedException, RpcTimeout {
        WaitLimits.Wait wait = now -> {
            if (now - alive.get() >= limit.toNanos()) {
                one.answer.completeExceptionally(new RpcTimeout(
                        "%s did not answer %s within %d s".formatted(server.key(), method, limit.toSeconds())));
            }
        };
        server.limits().add(wait);
        try {
            return one.answer.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RpcTimeout late) {
                throw late;
            }
            throw e.getCause() instanceof RpcException known
                    ? known
                    : new RpcException(RpcException.INTERNAL_ERROR, String.valueOf(e.getCause()));
        } finally {
            server.limits().remove(wait);
        }
    }

    private Message request(long id, String method, JsonNode params, @Nullable Call call) {
        var tree = Json.mapper()
                .createObjectNode()
                .put("jsonrpc", "2.0")
                .put("id", id)
                .put("method", method);
        if (params instanceof ObjectNode given) {
            tree.set("params", call == null || call.progressToken().isMissingNode() ? given : withToken(given, id));
        }
        return new Message(tree);
    }

    /// The id serves as token too: it is unique as long as the call lasts.
    private static ObjectNode withToken(ObjectNode given, long id) {
        var params = Json.mapper().createObjectNode().setAll(given);
        var meta = Json.mapper().createObjectNode();
        if (given.path("_meta") instanceof ObjectNode known) {
            meta.setAll(known);
        }
        params.set("_meta", meta.put("progressToken", id));
        return params;
    }

    private void cancel(long id, String reason) {
        try {
            tell(
                    "notifications/cancelled",
                    Json.mapper().createObjectNode().put("requestId", id).put("reason", reason));
        } catch (RpcException e) {
            // A failure means that the server has ended.
        }
    }

    void tell(String method, ObjectNode params) {
        send(Message.notification(method, params));
    }

    /// An answer to what the server asked of the client, or a notification of the client's.
    void send(Message message) {
        requireThere();
        var to = link;
        if (to == null) {
            throw new RpcException(RpcException.INTERNAL_ERROR, server.key() + " is not connected");
        }
        try {
            to.send(message);
        } catch (CayException e) {
            throw new RpcException(RpcException.INTERNAL_ERROR, e.userMessage());
        }
    }

    private void requireThere() {
        String reason = over;
        if (reason != null) {
            throw new RpcException(RpcException.INTERNAL_ERROR, reason);
        }
    }

    @Override
    public void heard(Message message) {
        switch (message.kind()) {
            case RESPONSE -> answered(message);
            case REQUEST -> {
                if (message.method().equals("ping")) {
                    send(Message.result(message.id(), Json.mapper().createObjectNode()));
                } else {
                    audience.request(this, message, latest());
                }
            }
            case NOTIFICATION -> told(message);
        }
    }

    private void answered(Message response) {
        var one = response.id().isIntegralNumber() ? waiting.get(response.id().asLong(-1)) : null;
        if (one != null) {
            one.answer.complete(response);
        }
    }

    @Override
    public void letGo(JsonNode request) {
        var one = waiting.get(request.asLong(-1));
        if (one != null && one.call != null) {
            one.call.letGo();
        }
    }

    private void told(Message notification) {
        if (!notificationLimit.allows()) {
            return;
        }
        if (!notification.method().equals("notifications/progress")) {
            audience.notification(this, notification, latest());
            return;
        }
        var one = waiting.get(notification.params().path("progressToken").asLong(-1));
        if (one != null) {
            one.sign.run();
            if (one.call != null && !one.call.progressToken().isMissingNode()) {
                ((ObjectNode) notification.params()).set("progressToken", one.call.progressToken());
                one.call.send(notification);
            }
        }
    }

    /// The latest call. Over a pipe a server cannot say which call a message belongs to; most often there is only one.
    private Optional<Call> latest() {
        return waiting.entrySet().stream()
                .filter(entry -> entry.getValue().call != null)
                .max(Map.Entry.comparingByKey())
                .map(entry -> entry.getValue().call);
    }

    @Override
    public void over(String reason) {
        note("%s ended: %s".formatted(server.key(), reason));
        try {
            // First, so that waiting callers see the server's new state.
            audience.over(this, reason);
        } finally {
            end(reason);
        }
    }

    private void note(String reason) {
        if (over == null) {
            over = reason;
        }
    }

    private void end(String reason) {
        note(reason);
        waiting.values()
                .forEach(one -> one.answer.completeExceptionally(
                        new RpcException(RpcException.INTERNAL_ERROR, String.valueOf(over))));
    }

    @Override
    public void close() {
        end(server.key() + " is not connected any more");
        var to = link;
        if (to != null) {
            to.close();
        }
    }
}
