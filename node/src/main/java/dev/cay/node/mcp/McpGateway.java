package dev.cay.node.mcp;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.face.HttpFace;
import dev.cay.node.mcp.intercept.CallWatch;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Port 50005 of one sandbox: all its MCP servers behind one address and one token.
///
/// Outlives the times in which its sandbox is away, with its clients' sessions and what servers remember of them.
public final class McpGateway implements Handler, ConversationHost, AutoCloseable {
    /// Path of its log inside.
    public static final String LOG = "/var/log/mcp-gateway/gateway.log";

    private static final String OWNER = "sandbox";
    private static final String BEARER = "Bearer ";
    private static final int MOST_INSTRUCTIONS = 8000;
    private static final Duration STATUS_LIMIT = Duration.ofSeconds(15);

    private final @Nullable AccessToken token;
    private final List<GatewayServer> servers;
    private final GatewayLog log;
    private final GatewayMeters meters;
    private final MetaTools meta;
    private final CallWatch watch;
    private final Set<GatewaySession> sessions = ConcurrentHashMap.newKeySet();
    private final HttpFace face;
    private volatile boolean away;

    /// @param name what host names of this port begin with
    McpGateway(
            String name,
            @Nullable String token,
            List<GatewayServer> servers,
            GatewayLog log,
            GatewayMeters meters,
            MetaTools meta,
            CallWatch watch) {
        this.token = token == null ? null : new AccessToken(token);
        this.servers = new CopyOnWriteArrayList<>(servers);
        servers.forEach(server -> server.whenFailed(this::failed));
        this.log = log;
        this.meters = meters;
        this.meta = meta;
        this.watch = watch;
        this.face = new HttpFace(this, HttpFace.Settings.usual().withHosts(host -> host.startsWith(name + ".")));
        servers.forEach(this::listen);
    }

    /// To be called once, before the first client comes.
    void start() {
        face.start();
    }

    private void listen(GatewayServer server) {
        server.onAuthorized(() -> authorized(server));
    }

    /// A user has authorized a server: it is started again, and clients are notified.
    private void authorized(GatewayServer server) {
        log.say("%s: authorized".formatted(server.key()));
        server.probeAgain();
        sessions.forEach(session -> session.authorized(server));
    }

    /// Starts every server once, all at the same time. Returns at once.
    void probe() {
        servers.forEach(GatewayServer::probe);
    }

    /// Adds a server and starts it. Clients are notified.
    void add(GatewayServer server) {
        listen(server);
        servers.add(server);
        server.whenFailed(this::failed);
        log.say("%s: added by a client".formatted(server.key()));
        server.probe();
        sessions.forEach(GatewaySession::serversChanged);
    }

    /// Removes a server and ends it. Clients are notified.
    void remove(GatewayServer server) {
        servers.remove(server);
        log.say("%s: removed by a client".formatted(server.key()));
        sessions.forEach(GatewaySession::serversChanged);
        server.retire();
    }

    private void failed(GatewayServer server, String why) {
        sessions.forEach(session -> session.failed(server, why));
    }

    Optional<GatewayServer> find(String key) {
        return servers.stream().filter(server -> server.key().equals(key)).findFirst();
    }

    /// Refuses with what there is.
    GatewayServer require(String key) {
        return find(key)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "%s is no server of this gateway; it has %s"
                                .formatted(
                                        Texts.brief(key),
                                        servers.isEmpty()
                                                ? "none"
                                                : servers.stream()
                                                        .map(GatewayServer::key)
                                                        .collect(Collectors.joining(", ")))));
    }

    MetaTools meta() {
        return meta;
    }

    CallWatch watch() {
        return watch;
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        switch (exchange.path()) {
            case "/mcp", "/mcp/" -> face.handle(exchange);
            case "/health" -> health(exchange);
            default ->
                exchange.sendJson(404, Map.of("code", 404, "message", "the gateway is at /mcp, its state at /health"));
        }
    }

    /// Serves the states of the servers to clients with the token.
    private void health(Exchange exchange) {
        var health = Json.mapper().createObjectNode().put("status", "healthy");
        if (admit(bearer(exchange)) != null) {
            states(health);
        }
        exchange.with("Cache-Control", "no-store").sendJson(200, health);
    }

    /// The states of the servers for users inside the sandbox: no token, no option, and of an address only the
    /// host, except for the one by which a user authorizes a server. Servers that were not used since the daemon
    /// started are tried first, for a moment.
    public ObjectNode status() {
        servers.forEach(GatewayServer::probeIfUnknown);
        await(servers);
        return states(Json.mapper().createObjectNode().put("status", "healthy"));
    }

    /// Waits briefly until the servers' states are known.
    private static void await(Collection<GatewayServer> awaited) {
        long end = System.nanoTime() + STATUS_LIMIT.toNanos();
        boolean waits = true;
        while (waits && awaited.stream().anyMatch(GatewayServer::isComing)) {
            waits = awaitArrivals(awaited, end - System.nanoTime());
        }
    }

    /// @return false when the time is over
    private static boolean awaitArrivals(Collection<GatewayServer> awaited, long nanos) {
        var arrivals = awaited.stream().map(GatewayServer::arrival).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(arrivals).get(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException | ExecutionException _) {
            return false;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            for (var arrival : arrivals) {
                arrival.cancel(false);
            }
        }
    }

    /// The state of one server. One that was not used yet, or failed, is tried first, for a moment.
    GatewayServer looked(String key) {
        var server = require(key);
        if (server.state() == ServerStatus.State.FAILED) {
            server.probeAgain();
        } else {
            server.probeIfUnknown();
        }
        await(List.of(server));
        return server;
    }

    private ObjectNode states(ObjectNode health) {
        var states = health.putObject("servers");
        servers.forEach(server -> states.set(server.key(), server.health()));
        return health;
    }

    private static @Nullable String bearer(Exchange exchange) {
        String header = exchange.header("Authorization");
        return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? header.substring(BEARER.length()).strip()
                : null;
    }

    @Override
    public @Nullable String admit(@Nullable String bearer) {
        return token == null || token.matches(bearer) ? OWNER : null;
    }

    @Override
    public Conversation open(String owner, Conversation.Client client) {
        var session = new GatewaySession(this, client);
        sessions.add(session);
        return session;
    }

    @Override
    public boolean isAway() {
        return away;
    }

    void left(GatewaySession session) {
        sessions.remove(session);
    }

    /// Ends the connection to a server that was idle for longest. Its client gets another one when it needs it.
    ///
    /// @return false if there is none
    boolean makeRoom(GatewayServer server) {
        if (server.makeRoom()) {
            return true;
        }
        var idlest = sessions.stream()
                .flatMap(session -> session.idle(server).stream())
                .max(Comparator.comparing(Upstream::idle));
        idlest.ifPresent(Upstream::close);
        return idlest.isPresent();
    }

    List<GatewayServer> servers() {
        return List.copyOf(servers);
    }

    GatewayLog log() {
        return log;
    }

    /// Sets the file inside in which its log is written, too; null for none.
    public void writeLogOn(GatewayLog.@Nullable Paper paper) {
        log.on(paper);
    }

    /// The instructions about its own tools, and those of the servers that are known by now.
    String instructions() {
        var own = Stream.of(meta.instructions()).filter(text -> !text.isEmpty());
        var others = servers.stream()
                .filter(server -> !server.instructions().isBlank())
                .map(server ->
                        "%s: %s".formatted(server.key(), server.instructions().strip()));
        String all = Stream.concat(own, others).collect(Collectors.joining("\n\n"));
        return all.length() <= MOST_INSTRUCTIONS ? all : all.substring(0, MOST_INSTRUCTIONS);
    }

    /// Logs a call with its outcome, without arguments and results.
    void called(GatewayServer server, String tool, boolean well, long began) {
        meters.called(server.key(), tool, well, began);
        var took = Duration.ofNanos(System.nanoTime() - began);
        log.say("%s: call of %s %s, %d ms"
                .formatted(server.key(), Texts.brief(tool), well ? "done" : "failed", took.toMillis()));
    }

    /// Ends all servers, because the daemon stops or the sandbox is replaced; they start again on demand.
    void rest() {
        servers.forEach(server -> server.setAway(true));
        servers.forEach(this::end);
    }

    private void end(GatewayServer server) {
        server.close();
        sessions.forEach(session -> session.disconnect(server));
    }

    /// Ends connections to remote servers. As long as the sandbox may not reach the internet, a client that needs
    /// one gets it in another of its ways, which may have other tools, or an error.
    void cutRemote() {
        servers.stream().filter(GatewayServer::isRemote).forEach(server -> {
            server.cut();
            sessions.forEach(session -> session.cut(server));
        });
    }

    /// Suspends the servers with the sandbox, unless it resumes before. Servers that cannot be suspended end.
    /// Connections to remote servers have ended when this returns.
    void sleep() {
        away = true;
        servers.forEach(server -> server.setAway(true));
        servers.stream().filter(GatewayServer::isRemote).forEach(this::end);
        servers.forEach(server -> server.inTurn(() -> {
            if (away && !server.sleep()) {
                end(server);
            }
        }));
    }

    void wake() {
        away = false;
        servers.forEach(server -> server.setAway(false));
        servers.forEach(server -> server.inTurn(server::wake));
    }

    @Override
    public void close() {
        face.close();
        servers.forEach(GatewayServer::retire);
    }
}
