package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The servers that a gateway has, and their states. Thread-safe.
final class GatewayServers {
    private static final int MOST_INSTRUCTIONS = 8000;
    private static final Duration STATUS_LIMIT = Duration.ofSeconds(15);

    /// Hears what happens to servers. Must not block.
    interface Listener {
        /// The gateway has another server, or one less.
        void changed();

        void failed(GatewayServer server, String why);

        /// A user has authorized the server.
        void authorized(GatewayServer server);
    }

    private final List<GatewayServer> servers;
    private final GatewayLog log;
    private volatile @Nullable Listener listener;

    GatewayServers(List<GatewayServer> servers, GatewayLog log) {
        this.servers = new CopyOnWriteArrayList<>(servers);
        this.log = log;
    }

    /// To be called once, before any server is started.
    void listen(Listener to) {
        listener = to;
        servers.forEach(this::watch);
    }

    private void watch(GatewayServer server) {
        server.whenFailed((failing, why) -> tell(told -> told.failed(failing, why)));
        server.onAuthorized(() -> authorized(server));
    }

    /// A user has authorized a server: it is started again.
    private void authorized(GatewayServer server) {
        log.say("%s: authorized".formatted(server.key()));
        server.probeAgain();
        tell(told -> told.authorized(server));
    }

    private void tell(Consumer<Listener> what) {
        var to = listener;
        if (to != null) {
            what.accept(to);
        }
    }

    /// Adds a server and starts it.
    void add(GatewayServer server) {
        servers.add(server);
        watch(server);
        log.say("%s: added by a client".formatted(server.key()));
        server.probe();
        tell(Listener::changed);
    }

    /// Removes a server and ends it.
    void remove(GatewayServer server) {
        servers.remove(server);
        log.say("%s: removed by a client".formatted(server.key()));
        tell(Listener::changed);
        server.retire();
    }

    List<GatewayServer> all() {
        return List.copyOf(servers);
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

    /// The gateway's own instructions, and those of the servers that are known by now.
    String instructions(String own) {
        var others = servers.stream()
                .filter(server -> !server.instructions().isBlank())
                .map(server ->
                        "%s: %s".formatted(server.key(), server.instructions().strip()));
        String all = Stream.concat(Stream.of(own).filter(text -> !text.isEmpty()), others)
                .collect(Collectors.joining("\n\n"));
        return all.length() <= MOST_INSTRUCTIONS ? all : all.substring(0, MOST_INSTRUCTIONS);
    }

    /// The state of each server by its key.
    ObjectNode states() {
        var states = Json.mapper().createObjectNode();
        servers.forEach(server -> states.set(server.key(), server.health()));
        return states;
    }

    /// Tries servers that were not used since the daemon started, and waits briefly until the states of all are known.
    void awaitKnown() {
        servers.forEach(GatewayServer::probeIfUnknown);
        await(servers);
    }

    /// One server with its state. One that was not used yet, or failed, is tried first, for a moment.
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
}
