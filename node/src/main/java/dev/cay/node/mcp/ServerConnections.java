package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// A client's connections to the servers of its gateway. Thread-safe.
///
/// Connections are made when the client first needs something, all at once, and again when one broke. Many clients send
/// `initialize` and nothing more.
final class ServerConnections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServerConnections.class);

    /// How long a client waits for a free connection to a server that has as many as allowed.
    private static final Duration ROOM_LIMIT = Duration.ofSeconds(30);

    /// How often that is checked.
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

    /// The client, to which messages of servers go.
    interface Audience extends Upstream.Audience {
        /// A server cannot be used before a user has authorized this Cay there.
        void barred(GatewayServer server);
    }

    private final GatewayServers all;
    private final Predicate<GatewayServer> makeRoom;
    private final Audience audience;
    private ObjectNode hello = Json.mapper().createObjectNode();
    private List<SessionServer> servers = List.of();
    private boolean closed;

    /// @param makeRoom ends the connection of another client to a server; false if there is none that is idle
    ServerConnections(GatewayServers all, Predicate<GatewayServer> makeRoom, Audience audience) {
        this.all = all;
        this.makeRoom = makeRoom;
        this.audience = audience;
    }

    /// @param given the client's `initialize`
    synchronized void introduce(ObjectNode given) {
        hello = given;
    }

    private synchronized ObjectNode hello() {
        return hello;
    }

    /// Updates the list of servers.
    void refresh() {
        var gone = new ArrayList<SessionServer>();
        synchronized (this) {
            var known = new HashMap<GatewayServer, SessionServer>();
            servers.forEach(server -> known.put(server.server(), server));
            servers = all.all().stream()
                    .map(server -> Optional.ofNullable(known.remove(server)).orElseGet(() -> new SessionServer(server)))
                    .toList();
            gone.addAll(known.values());
        }
        gone.forEach(SessionServer::disconnect);
    }

    synchronized List<SessionServer> servers() {
        return servers;
    }

    /// The existing connection, or a new one when that has ended.
    CompletableFuture<Upstream> connection(SessionServer server) {
        synchronized (this) {
            if (closed) {
                throw new RpcException(RpcException.INTERNAL_ERROR, "the session has ended");
            }
        }
        return server.connection(fresh ->
                Thread.ofVirtual().name("mcp-connect-" + server.server().key()).start(() -> connect(server, fresh)));
    }

    Upstream await(SessionServer server, Duration patience) {
        return ServerWait.get(server.server(), connection(server), patience);
    }

    private void connect(SessionServer server, CompletableFuture<Upstream> result) {
        try {
            var upstream = open(server.server());
            server.server().connected(upstream);
            result.complete(upstream);
            synchronized (this) {
                if (!closed && servers.contains(server)) {
                    return;
                }
            }
            upstream.close();
        } catch (CayException e) {
            fail(server.server(), result, e.userMessage());
        } catch (RpcException e) {
            fail(server.server(), result, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("server", server.server().key())
                    .log("an MCP server could not be connected");
            fail(server.server(), result, "it is not reached; the log of Cay says why");
        }
    }

    /// Opens a connection. The number of clients of a server is limited; idle sessions lose theirs first, which takes a
    /// moment.
    private Upstream open(GatewayServer server) {
        long deadline = System.nanoTime() + ROOM_LIMIT.toNanos();
        boolean asked = false;
        while (true) {
            try {
                return server.connect(hello(), audience);
            } catch (CayException e) {
                long left = deadline - System.nanoTime();
                if (e.kind() != ErrorKind.EXHAUSTED || left <= 0) {
                    throw e;
                }
                asked = asked || makeRoom.test(server);
                server.home().awaitRoom(Duration.ofNanos(asked ? left : Math.min(left, LOOK_AGAIN.toNanos())));
            }
        }
    }

    private void fail(GatewayServer server, CompletableFuture<Upstream> result, String why) {
        server.failed(why);
        var barred = Barred.error(server);
        if (barred.isPresent()) {
            audience.barred(server);
            result.completeExceptionally(barred.get());
            return;
        }
        result.completeExceptionally(new RpcException(
                RpcException.INTERNAL_ERROR, "%s cannot be used: %s".formatted(server.key(), Texts.brief(why))));
    }

    /// An idle connection to the server, if there is one.
    Optional<Upstream> idle(GatewayServer server) {
        return servers().stream()
                .filter(place -> place.server() == server)
                .flatMap(place -> place.connected().stream())
                .filter(upstream -> !upstream.isOver() && !upstream.idle().isZero())
                .findFirst();
    }

    /// Runs an action on all open connections; failing ones are skipped.
    void toOpen(Consumer<Upstream> action) {
        servers()
                .forEach(
                        server -> server.connected().ifPresent(upstream -> skipFailure(() -> action.accept(upstream))));
    }

    /// Runs an action on each server with the capability, one after the other; failing ones are skipped.
    void toAll(String capability, Duration patience, Consumer<Upstream> action) {
        servers()
                .forEach(server -> skipFailure(() -> {
                    var upstream = await(server, patience);
                    if (upstream.can(capability)) {
                        action.accept(upstream);
                    }
                }));
    }

    private static void skipFailure(Runnable action) {
        try {
            action.run();
        } catch (RpcException e) {
            log.atDebug().addKeyValue("reason", e.getMessage()).log("an MCP server failed and is skipped");
        }
    }

    /// Ends the connection to a server that there is now, whenever it is run; a later connection stays.
    Runnable disconnection(GatewayServer server) {
        var there = servers().stream()
                .filter(place -> place.server() == server)
                .map(SessionServer::disconnection)
                .toList();
        return () -> there.forEach(Runnable::run);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        servers().forEach(SessionServer::disconnect);
    }
}
