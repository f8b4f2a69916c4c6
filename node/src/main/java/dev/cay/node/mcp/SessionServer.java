package dev.cay.node.mcp;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// One server in one client's session: the connection to it, and its lists. Thread-safe.
final class SessionServer {
    private final GatewayServer server;
    private final Map<Listed, List<ObjectNode>> lists = new EnumMap<>(Listed.class);
    private @Nullable CompletableFuture<Upstream> connection;

    SessionServer(GatewayServer server) {
        this.server = server;
    }

    GatewayServer server() {
        return server;
    }

    /// The existing connection, or one that is being made; a new one when that has ended.
    ///
    /// @param begin starts to connect, and returns at once
    CompletableFuture<Upstream> connection(Consumer<CompletableFuture<Upstream>> begin) {
        CompletableFuture<Upstream> fresh;
        synchronized (this) {
            if (connection != null && isUsable(connection)) {
                return connection;
            }
            lists.clear();
            fresh = new CompletableFuture<>();
            connection = fresh;
        }
        begin.accept(fresh);
        return fresh;
    }

    private static boolean isUsable(CompletableFuture<Upstream> there) {
        return !there.isDone()
                || (!there.isCompletedExceptionally() && !there.join().isOver());
    }

    /// The connection, if it is made.
    synchronized Optional<Upstream> connected() {
        return Optional.ofNullable(connection)
                .filter(there -> there.isDone() && !there.isCompletedExceptionally())
                .map(CompletableFuture::join);
    }

    /// Disconnects; a connection that is being made is closed when it is ready.
    void disconnect() {
        disconnection().run();
    }

    /// Ends the connection that there is now, whenever it is run; a later connection stays.
    synchronized Runnable disconnection() {
        var there = connection;
        return () -> {
            if (there != null) {
                var _ = there.thenAccept(Upstream::close);
            }
        };
    }

    /// Its list, if it was read.
    synchronized Optional<List<ObjectNode>> listed(Listed kind) {
        return Optional.ofNullable(lists.get(kind));
    }

    synchronized void remember(Listed kind, List<ObjectNode> items) {
        lists.put(kind, items);
    }

    synchronized void forget(Listed kind) {
        lists.remove(kind);
    }
}
