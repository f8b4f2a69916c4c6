package dev.cay.node.mcp;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.face.HttpFace;
import dev.cay.wire.AccessToken;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

    private final @Nullable AccessToken token;
    private final GatewayServers servers;
    private final GatewayLog log;
    private final MetaToolList own;
    private final ToolCalls tools;
    private final Set<GatewaySession> sessions = ConcurrentHashMap.newKeySet();
    private final HttpFace face;
    private volatile boolean away;

    /// @param name  what host names of this port begin with
    /// @param own   its own tools
    /// @param tools executes calls of all tools
    McpGateway(
            String name,
            @Nullable String token,
            GatewayServers servers,
            GatewayLog log,
            MetaToolList own,
            ToolCalls tools) {
        this.token = token == null ? null : new AccessToken(token);
        this.servers = servers;
        this.log = log;
        this.own = own;
        this.tools = tools;
        this.face = new HttpFace(this, HttpFace.Settings.usual().withHosts(host -> host.startsWith(name + ".")));
    }

    /// To be called once, before the first client comes.
    void start() {
        servers.listen(new ToSessions());
        face.start();
    }

    /// Starts every server once, all at the same time. Returns at once.
    void probe() {
        servers.all().forEach(GatewayServer::probe);
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
            health.set("servers", servers.states());
        }
        exchange.with("Cache-Control", "no-store").sendJson(200, health);
    }

    /// The states of the servers for users inside the sandbox: no token, no option, and of an address only the
    /// host, except for the one by which a user authorizes a server. Servers that were not used since the daemon
    /// started are tried first, for a moment.
    public ObjectNode status() {
        servers.awaitKnown();
        var status = Json.mapper().createObjectNode().put("status", "healthy");
        status.set("servers", servers.states());
        return status;
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
        var session = new GatewaySession(servers, own, tools, this::makeRoom, sessions::remove, client);
        sessions.add(session);
        return session;
    }

    @Override
    public boolean isAway() {
        return away;
    }

    /// Ends the connection to a server that was idle for longest. Its client gets another one when it needs it.
    ///
    /// @return false if there is none
    private boolean makeRoom(GatewayServer server) {
        if (server.makeRoom()) {
            return true;
        }
        var idlest = sessions.stream()
                .flatMap(session -> session.idle(server).stream())
                .max(Comparator.comparing(Upstream::idle));
        idlest.ifPresent(Upstream::close);
        return idlest.isPresent();
    }

    GatewayServers servers() {
        return servers;
    }

    GatewayLog log() {
        return log;
    }

    /// Sets the file inside in which its log is written, too; null for none.
    public void writeLogOn(GatewayLog.@Nullable Paper paper) {
        log.on(paper);
    }

    /// Ends all servers, because the daemon stops or the sandbox is replaced; they start again on demand.
    void rest() {
        servers.all().forEach(server -> server.setAway(true));
        servers.all().forEach(this::end);
    }

    private void end(GatewayServer server) {
        var connections = connections(server);
        server.close();
        connections.forEach(Runnable::run);
    }

    /// What ends the connections that clients have to a server now.
    private List<Runnable> connections(GatewayServer server) {
        return sessions.stream().map(session -> session.disconnection(server)).toList();
    }

    /// Ends connections to remote servers. As long as the sandbox may not reach the internet, a client that needs
    /// one gets it in another of its ways, which may have other tools, or an error.
    void cutRemote() {
        servers.all().stream().filter(GatewayServer::isRemote).forEach(server -> {
            server.cut();
            sessions.forEach(session -> session.cut(server));
        });
    }

    /// Suspends the servers with the sandbox, unless it resumes before. Servers that cannot be suspended end.
    /// Connections to remote servers have ended when this returns.
    void sleep() {
        away = true;
        servers.all().forEach(server -> server.setAway(true));
        servers.all().stream().filter(GatewayServer::isRemote).forEach(this::end);
        servers.all().forEach(server -> server.inTurn(() -> sleep(server)));
    }

    /// A sandbox that was resumed meanwhile may have new connections, which stay.
    private void sleep(GatewayServer server) {
        var connections = connections(server);
        if (!server.sleep()) {
            connections.forEach(Runnable::run);
        }
    }

    void wake() {
        away = false;
        servers.all().forEach(server -> server.setAway(false));
        servers.all().forEach(server -> server.inTurn(server::wake));
    }

    /// What happens to servers is passed on to all clients.
    private final class ToSessions implements GatewayServers.Listener {
        @Override
        public void changed() {
            sessions.forEach(GatewaySession::serversChanged);
        }

        @Override
        public void failed(GatewayServer server, String why) {
            sessions.forEach(session -> session.failed(server, why));
        }

        @Override
        public void authorized(GatewayServer server) {
            sessions.forEach(session -> session.authorized(server));
        }
    }

    @Override
    public void close() {
        face.close();
        servers.all().forEach(GatewayServer::retire);
    }
}
