package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.RpcException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// The merged lists of a gateway's servers for one client. Thread-safe.
final class Servers implements AutoCloseable {
    /// Clients give up after a minute; servers that are late are reported by a later notification.
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    /// Code of the protocol's older revisions for a missing resource.
    private static final int RESOURCE_NOT_FOUND = -32002;

    /// A client's name, resolved.
    ///
    /// @param own the name at its server
    record Named(GatewayServer server, Upstream upstream, String own) {}

    private final MetaToolList own;
    private final ServerConnections connections;
    private final Consumer<Listed> changed;

    /// The origins of items by the clients' names. Guarded by this.
    private final Map<Listed, Map<String, MergedList.Entry>> names = new EnumMap<>(Listed.class);

    /// @param own     the tools of the gateway
    /// @param changed told when a list is not as the client knows it
    Servers(MetaToolList own, ServerConnections connections, Consumer<Listed> changed) {
        this.own = own;
        this.connections = connections;
        this.changed = changed;
    }

    /// @param hello the client's `initialize`
    void begin(ObjectNode hello) {
        connections.introduce(hello);
        refresh();
    }

    /// Updates the list of servers.
    void refresh() {
        connections.refresh();
        synchronized (this) {
            names.clear();
        }
    }

    /// An idle connection to the server, if there is one.
    Optional<Upstream> idle(GatewayServer server) {
        return connections.idle(server);
    }

    /// The list for clients: the gateway's own items, and those of servers.
    ObjectNode list(Listed kind) {
        var answer = Json.mapper().createObjectNode();
        var array = answer.putArray(kind.field());
        own.offered(kind).forEach(array::add);
        if (!own.hides(kind)) {
            merged(kind, PATIENCE).items().forEach(array::add);
        }
        return answer;
    }

    /// The items of all servers. A failing server is left out; a late one is reported later.
    MergedList merged(Listed kind, Duration patience) {
        var all = connections.servers();
        var coming = all.stream().map(server -> items(server, kind)).toList();
        ServerWait.forAll(all.stream().map(SessionServer::server).toList(), coming, patience);
        var merged = new MergedList(kind, own.names(kind));
        for (int i = 0; i < all.size(); i++) {
            var server = all.get(i);
            try {
                var items = ServerWait.get(server.server(), coming.get(i), Duration.ZERO);
                items.forEach(item -> merged.add(server, item));
            } catch (RpcException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                var _ = coming.get(i).thenRun(() -> changed.accept(kind));
            }
        }
        synchronized (this) {
            names.put(kind, merged.table());
        }
        return merged;
    }

    private CompletableFuture<List<ObjectNode>> items(SessionServer server, Listed kind) {
        return server.listed(kind)
                .map(CompletableFuture::completedFuture)
                .orElseGet(() -> connections
                        .connection(server)
                        .thenApplyAsync(
                                upstream -> fetch(server, upstream, kind),
                                work -> Thread.ofVirtual().name("mcp-list").start(work)));
    }

    /// Fetches a list. A server that does not answer has an empty list until it reports a change, or is connected
    /// again: clients wait for it once.
    private static List<ObjectNode> fetch(SessionServer server, Upstream upstream, Listed kind) {
        var fetched = List.<ObjectNode>of();
        try {
            fetched = upstream.can(kind.capability()) ? new ServerListing(upstream, kind).fetch() : fetched;
        } catch (RpcException e) {
            server.server().failed(String.valueOf(e.getMessage()));
        }
        if (kind == Listed.TOOLS && !fetched.isEmpty()) {
            server.server().counted(fetched.size());
        }
        server.remember(kind, fetched);
        return fetched;
    }

    Named named(Listed kind, String name) {
        var entry = find(kind, name).orElseGet(() -> {
            merged(kind, PATIENCE);
            return find(kind, name)
                    .orElseThrow(() -> new RpcException(
                            RpcException.INVALID_PARAMS,
                            "unknown %s: %s%s"
                                    .formatted(
                                            kind == Listed.TOOLS ? "tool" : "prompt",
                                            Texts.brief(name),
                                            installing())));
        });
        return new Named(entry.server().server(), await(entry.server()), entry.own());
    }

    /// Why more items may come later; empty if none will.
    private String installing() {
        return those("still being installed", GatewayServer::isPreparing)
                + those("needs authorization", server -> server.authorize().isPresent());
    }

    private String those(String what, Predicate<GatewayServer> which) {
        String keys = connections.servers().stream()
                .map(SessionServer::server)
                .filter(which)
                .map(GatewayServer::key)
                .collect(Collectors.joining(", "));
        return keys.isEmpty() ? "" : "; %s: %s".formatted(what, keys);
    }

    private synchronized Optional<MergedList.Entry> find(Listed kind, String name) {
        return Optional.ofNullable(names.getOrDefault(kind, Map.of()).get(name));
    }

    /// The server of a resource's address.
    Upstream ofResource(String uri) {
        merged(Listed.RESOURCES, PATIENCE);
        var listed = find(Listed.RESOURCES, uri);
        if (listed.isPresent()) {
            return await(listed.get().server());
        }
        merged(Listed.TEMPLATES, PATIENCE);
        Map<String, MergedList.Entry> templates;
        synchronized (this) {
            templates = Map.copyOf(names.getOrDefault(Listed.TEMPLATES, Map.of()));
        }
        var fitting = templates.entrySet().stream()
                .filter(template -> template.getKey().equals(uri) || UriTemplates.fits(template.getKey(), uri))
                .map(Map.Entry::getValue)
                .findFirst();
        return fitting.map(entry -> await(entry.server())).orElseGet(() -> capable("resources", uri));
    }

    /// Servers need not list all they have; where only one has any, it is asked.
    private Upstream capable(String capability, String uri) {
        var capable = connections.servers().stream()
                .map(server -> connections.connection(server).handle((upstream, _) -> upstream))
                .map(coming -> coming.getNow(null))
                .filter(upstream -> upstream != null && upstream.can(capability))
                .toList();
        if (capable.size() != 1) {
            throw new RpcException(RESOURCE_NOT_FOUND, "no server has the resource " + Texts.brief(uri));
        }
        return capable.getFirst();
    }

    /// For methods that the gateway does not know: the only server.
    Upstream only(String method) {
        var all = connections.servers();
        if (all.size() != 1) {
            throw new RpcException(RpcException.METHOD_NOT_FOUND, "unknown method: " + Texts.brief(method));
        }
        return await(all.getFirst());
    }

    private Upstream await(SessionServer server) {
        return connections.await(server, PATIENCE);
    }

    /// Runs an action on each server with the capability, one after the other; failing ones are skipped.
    void toAll(String capability, Consumer<Upstream> action) {
        connections.toAll(capability, PATIENCE, action);
    }

    /// Runs an action on all open connections.
    void toOpen(Consumer<Upstream> action) {
        connections.toOpen(action);
    }

    /// Forgets a server's list. Names stay valid until there is a new list: a server that changes its list all the time
    /// must not block calls of others.
    void forget(Upstream from, Listed kind) {
        connections.servers().stream()
                .filter(server -> server.server() == from.server())
                .forEach(server -> server.forget(kind));
    }

    /// Asks the server again for all that it lists. Names stay good until then.
    void forget(GatewayServer server) {
        connections.servers().stream()
                .filter(place -> place.server() == server)
                .forEach(place -> List.of(Listed.values()).forEach(place::forget));
    }

    /// See {@link ServerConnections#disconnection}.
    Runnable disconnection(GatewayServer server) {
        return connections.disconnection(server);
    }

    /// Closes; connections that are being made are closed when they are ready.
    @Override
    public void close() {
        connections.close();
    }
}
