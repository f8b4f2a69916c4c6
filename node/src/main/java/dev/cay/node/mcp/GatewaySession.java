package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.wire.CayException;
import dev.cay.wire.CayVersion;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One client of a gateway, with a connection of its own to each server, so that clients share none of a server's
/// memory.
///
/// Messages pass unchanged, except for ids, names and progress tokens. The gateway itself answers requests about all
/// servers.
final class GatewaySession implements Conversation, ServerConnections.Audience {
    private static final Logger log = LoggerFactory.getLogger(GatewaySession.class);

    /// Newest first. A client that asks for another one gets the newest, and decides.
    private static final List<String> VERSIONS = List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

    /// Levels of log messages, the least important first.
    private static final List<String> LEVELS =
            List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

    private static final String FAILURE_LEVEL = "warning";
    /// During these a client can be asked something, in all revisions.
    private static final Set<String> CAN_ASK = Set.of("tools/call", "prompts/get", "resources/read");

    private static final Duration CALL_LIMIT = Duration.ofMinutes(5);
    private static final int MOST_CALLS = 256;

    private final GatewayServers all;
    private final MetaToolList own;
    private final ToolCalls tools;
    private final Consumer<GatewaySession> left;
    private final Client client;
    private final Servers servers;
    private final UrlQuestions urls;
    private final ConcurrentMap<JsonNode, Exchange> calls = new ConcurrentHashMap<>();
    private final ServerMessages fromServers;

    /// The number of each server's failures that the client was told of, by its key.
    private final ConcurrentMap<String, Integer> told = new ConcurrentHashMap<>();

    /// The lowest level of log messages that the client wants; none before `initialize`.
    private volatile int least = LEVELS.size();

    /// @param own      the tools of the gateway
    /// @param tools    executes calls of all tools
    /// @param makeRoom ends the connection of another client to a server; false if there is none that is idle
    /// @param left     told when the client has disconnected
    GatewaySession(
            GatewayServers all,
            MetaToolList own,
            ToolCalls tools,
            Predicate<GatewayServer> makeRoom,
            Consumer<GatewaySession> left,
            Client client) {
        this.all = all;
        this.own = own;
        this.tools = tools;
        this.left = left;
        this.client = client;
        this.fromServers = new ServerMessages(client);
        this.urls = new UrlQuestions(client);
        this.servers = new Servers(own, new ServerConnections(all, makeRoom, this), kind -> changed(kind));
    }

    /// A request of the client's that is being answered.
    private static final class Exchange implements Upstream.Call {
        private final Message request;
        private final Reply reply;
        private @Nullable Thread worker;
        private boolean calledOff;

        Exchange(Message request, Reply reply) {
            this.request = request;
            this.reply = reply;
        }

        /// @return false if the call was cancelled before
        synchronized boolean begin() {
            worker = Thread.currentThread();
            return !calledOff;
        }

        synchronized void callOff() {
            calledOff = true;
            if (worker != null) {
                worker.interrupt();
            }
        }

        /// The thread continues with other work, which must not inherit the interrupt.
        synchronized void end() {
            worker = null;
            if (calledOff) {
                boolean _ = Thread.interrupted();
            }
        }

        @Override
        public void send(Message message) {
            reply.send(message);
        }

        @Override
        public void letGo() {
            reply.letGo();
        }

        @Override
        public JsonNode progressToken() {
            return request.params().path("_meta").path("progressToken");
        }
    }

    @Override
    public void request(Message request, Reply reply) {
        begin(request, reply).ifPresent(Thread.ofVirtual().name("mcp-" + request.method())::start);
    }

    @Override
    public Optional<Runnable> begin(Message request, Reply reply) {
        if (request.method().equals("initialize")) {
            reply.end(Message.result(request.id(), greeting(request.params())));
            least = 0;
            return Optional.empty();
        }
        var call = new Exchange(request, reply);
        if (calls.size() >= MOST_CALLS) {
            refuse(call, "%d calls are under way, which is all a client may have".formatted(MOST_CALLS));
        } else if (calls.putIfAbsent(request.id(), call) != null) {
            refuse(call, "a call with this id is under way");
        } else {
            return Optional.of(() -> answer(call));
        }
        return Optional.empty();
    }

    private static void refuse(Exchange call, String why) {
        call.reply.end(Message.error(call.request.id(), new RpcException(RpcException.INVALID_REQUEST, why)));
    }

    private void answer(Exchange call) {
        if (call.begin()) {
            var response = responseOrError(call);
            call.end();
            // A client that cancelled a call gets no answer to it.
            if (calls.remove(call.request.id(), call)) {
                call.reply.end(response);
            }
        }
    }

    private Message responseOrError(Exchange call) {
        try {
            return response(call);
        } catch (RpcException e) {
            return Message.error(call.request.id(), e);
        } catch (CayException e) {
            return Message.error(call.request.id(), new RpcException(RpcException.INTERNAL_ERROR, e.userMessage()));
        } catch (RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("method", call.request.method())
                    .log("an MCP request failed unexpectedly");
            return Message.error(
                    call.request.id(), new RpcException(RpcException.INTERNAL_ERROR, "this failed inside the gateway"));
        }
    }

    /// A call of a server that a user must let this Cay in at waits until that is done, if the client can have it done.
    private Message response(Exchange call) {
        try {
            return responseNow(call);
        } catch (RpcException e) {
            var barred = all.find(Barred.server(e));
            if (!CAN_ASK.contains(call.request.method())
                    || barred.isEmpty()
                    || !urls.ask(barred.get(), call, CALL_LIMIT)) {
                throw e;
            }
            return responseNow(call);
        }
    }

    private Message responseNow(Exchange call) {
        var request = call.request;
        var listed = Listed.by(request.method());
        if (listed.isPresent()) {
            return Message.result(request.id(), servers.list(listed.get()));
        }
        return switch (request.method()) {
            case "ping" -> nothing(request);
            case "tools/call" -> withId(tools.call(servers, request, call, CALL_LIMIT), call);
            case "prompts/get" -> forward(call, servers.named(Listed.PROMPTS, name(request)));
            case "resources/read", "resources/subscribe", "resources/unsubscribe" -> resource(call);
            case "completion/complete" -> complete(call);
            case "logging/setLevel" -> {
                least = Math.max(
                        0, LEVELS.indexOf(request.params().path("level").asString("")));
                servers.toAll("logging", up -> up.call(request.method(), request.params(), null, CALL_LIMIT));
                yield nothing(request);
            }
            default ->
                withId(servers.only(request.method()).call(request.method(), request.params(), call, CALL_LIMIT), call);
        };
    }

    private static Message nothing(Message request) {
        return Message.result(request.id(), Json.mapper().createObjectNode());
    }

    private static String name(Message request) {
        return request.params().path("name").asString("");
    }

    /// Under the name the server knows.
    private Message forward(Exchange call, Servers.Named item) {
        var params = ((ObjectNode) call.request.params()).deepCopy().put("name", item.own());
        return withId(item.upstream().call(call.request.method(), params, call, CALL_LIMIT), call);
    }

    private Message resource(Exchange call) {
        String uri = call.request.params().path("uri").asString("");
        return withId(
                servers.ofResource(uri).call(call.request.method(), call.request.params(), call, CALL_LIMIT), call);
    }

    private Message complete(Exchange call) {
        var params = ((ObjectNode) call.request.params()).deepCopy();
        Upstream upstream;
        if (params.path("ref") instanceof ObjectNode ref && ref.path("name").isString()) {
            var prompt = servers.named(Listed.PROMPTS, ref.path("name").asString());
            ref.put("name", prompt.own());
            upstream = prompt.upstream();
        } else {
            upstream = servers.ofResource(params.path("ref").path("uri").asString(""));
        }
        return withId(upstream.call(call.request.method(), params, call, CALL_LIMIT), call);
    }

    /// The server's response with another id, otherwise unchanged.
    private static Message withId(Message response, Exchange call) {
        response.tree().set("id", call.request.id());
        return response;
    }

    private JsonNode greeting(JsonNode params) {
        urls.introduce(params.path("capabilities"));
        servers.begin(params instanceof ObjectNode given ? given : Json.mapper().createObjectNode());
        String wanted = params.path("protocolVersion").asString("");
        var greeting = Json.mapper().createObjectNode();
        greeting.put("protocolVersion", VERSIONS.contains(wanted) ? wanted : VERSIONS.getFirst());
        var capabilities = greeting.putObject("capabilities");
        capabilities.putObject("tools").put("listChanged", true);
        capabilities.putObject("prompts").put("listChanged", true);
        capabilities.putObject("resources").put("listChanged", true).put("subscribe", true);
        capabilities.putObject("logging");
        capabilities.putObject("completions");
        greeting.putObject("serverInfo")
                .put("name", "mcp-gateway")
                .put("title", "Cay")
                .put("version", CayVersion.text());
        String instructions = all.instructions(own.instructions());
        if (!instructions.isEmpty()) {
            greeting.put("instructions", instructions);
        }
        return greeting;
    }

    @Override
    public void notification(Message notification) {
        switch (notification.method()) {
            case "notifications/cancelled" -> {
                var call = calls.remove(notification.params().path("requestId"));
                if (call != null) {
                    call.callOff();
                }
            }
            case "notifications/progress" -> fromServers.progress(notification);
            case "notifications/roots/list_changed" ->
                Thread.ofVirtual().name("mcp-roots").start(() -> servers.toOpen(up -> up.send(notification)));
            default ->
                log.atDebug().addKeyValue("method", notification.method()).log("an MCP notification was ignored");
        }
    }

    /// The client's answer to a question of a server's.
    @Override
    public void response(Message response) {
        if (!urls.answered(response)) {
            fromServers.answer(response);
        }
    }

    @Override
    public void request(Upstream from, Message request, Optional<Upstream.Call> about) {
        fromServers.ask(from, request, about);
    }

    @Override
    public void notification(Upstream from, Message notification, Optional<Upstream.Call> about) {
        for (var kind : Listed.values()) {
            if (notification.method().equals(kind.change())) {
                servers.forget(from, kind);
            }
        }
        switch (notification.method()) {
            case "notifications/cancelled" -> fromServers.cancel(from, notification, about);
            case "notifications/message" -> fromServers.pass(notification, about);
            default -> client.send(notification);
        }
    }

    @Override
    public void over(Upstream from, String reason) {
        fromServers.forget(from);
        from.server().failed(reason);
    }

    @Override
    public void barred(GatewayServer server) {
        urls.ask(server);
    }

    /// A user has let this Cay in at a server.
    void authorized(GatewayServer server) {
        serversChanged();
        urls.granted(server);
    }

    /// A list has changed.
    private void changed(Listed kind) {
        client.send(Message.notification(kind.change(), Json.mapper().createObjectNode()));
    }

    /// Tells the client in a log message that a server cannot be used: once for each failure, however often the server
    /// is tried.
    void failed(GatewayServer server, String why) {
        int failures = server.failures();
        if (LEVELS.indexOf(FAILURE_LEVEL) < least
                || Integer.valueOf(failures).equals(told.put(server.key(), failures))) {
            return;
        }
        client.send(Message.notification(
                "notifications/message",
                Json.mapper()
                        .createObjectNode()
                        .put("level", FAILURE_LEVEL)
                        .put("logger", server.key())
                        .put("data", "%s cannot be used: %s".formatted(server.key(), why))));
    }

    /// The gateway has other servers than before.
    void serversChanged() {
        servers.refresh();
        List.of(Listed.TOOLS, Listed.PROMPTS, Listed.RESOURCES).forEach(this::changed);
    }

    @Override
    public void close() {
        calls.values().forEach(Exchange::callOff);
        calls.clear();
        fromServers.clear();
        servers.close();
        left.accept(this);
    }

    /// See {@link ServerConnections#disconnection}.
    Runnable disconnection(GatewayServer server) {
        return servers.disconnection(server);
    }

    /// The server is not reached any more as it was, and may have something else to list when it is reached again.
    void cut(GatewayServer server) {
        servers.disconnection(server).run();
        servers.forget(server);
        List.of(Listed.TOOLS, Listed.PROMPTS, Listed.RESOURCES).forEach(this::changed);
    }

    /// See {@link Servers#idle}.
    Optional<Upstream> idle(GatewayServer server) {
        return servers.idle(server);
    }
}
