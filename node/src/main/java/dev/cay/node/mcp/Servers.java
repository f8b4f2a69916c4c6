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

/// What the servers of a gateway have for one client, as it was told. Thread-safe.
final class Servers implements AutoCloseable {
    /// Clients give up after a minute: who is not there by then is told of later.
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    /// Told by the protocol's older revisions for what is not there.
    private static final int RESOURCE_NOT_FOUND = -32002;

    /// What a client called by a name of ours.
    ///
    /// @param own what its server calls it
    record Named(Upstream upstream, String own) {}

    private final McpGateway gateway;
    private final ServerConnections connections;
    private final Consumer<Listed> changed;

    /// Who has what, by what the client calls it. Guarded by this.
    private final Map<Listed, Map<String, MergedList.Entry>> names = new EnumMap<>(Listed.class);

    /// @param changed told when a list is not as the client knows it
    Servers(McpGateway gateway, Upstream.Audience audience, Consumer<Listed> changed) {
        this.gateway = gateway;
        this.connections = new ServerConnections(gateway, audience);
        this.changed = changed;
    }

    /// @param hello the client's `initialize`
    void begin(ObjectNode hello) {
        connections.introduce(hello);
        refresh();
    }

    /// Goes by what servers the gateway has now.
    void refresh() {
        connections.refresh();
        synchronized (this) {
            names.clear();
        }
    }

    /// The connection to a server that nobody waits for, if there is one.
    Optional<Upstream> idle(GatewayServer server) {
        return connections.idle(server);
    }

    /// What clients are told there is of a kind: the gateway's own, and what servers have.
    ObjectNode list(Listed kind) {
        var answer = Json.mapper().createObjectNode();
        var array = answer.putArray(kind.field());
        gateway.meta().offered(kind).forEach(array::add);
        if (!gateway.meta().hides(kind)) {
            merged(kind, PATIENCE).items().forEach(array::add);
        }
        return answer;
    }

    /// What all servers have of a kind. One that fails is left out; one that is late is told of later.
    MergedList merged(Listed kind, Duration patience) {
        var all = connections.servers();
        var coming = all.stream().map(server -> items(server, kind)).toList();
        ServerWait.forAll(all.stream().map(SessionServer::server).toList(), coming, patience);
        var merged = new MergedList(kind, gateway.meta().names(kind));
        for (int i = 0; i < all.size(); i++) {
            var server = all.get(i);
            try {
                var own = ServerWait.get(server.server(), coming.get(i), Duration.ZERO);
                own.forEach(item -> merged.add(server, item));
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

    /// One that does not tell has nothing until it says that something changed, or is connected anew: who waited once
    /// in vain need not do so again.
    private static List<ObjectNode> fetch(SessionServer server, Upstream upstream, Listed kind) {
        var fetched = List.<ObjectNode>of();
        try {
            fetched = upstream.can(kind.capability()) ? new ServerListing(upstream, kind).fetch() : fetched;
        } catch (RpcException e) {
            upstream.server().failed(String.valueOf(e.getMessage()));
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
        return new Named(await(entry.server()), entry.own());
    }

    /// Why what was asked for may come later; empty if it will not.
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

    /// Who has what lies at an address.
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

    /// For what the gateway knows nothing of.
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

    /// Each that is able, one after the other; who fails is skipped.
    void toAll(String capability, Consumer<Upstream> action) {
        connections.toAll(capability, PATIENCE, action);
    }

    /// Those that are connected now.
    void toOpen(Consumer<Upstream> action) {
        connections.toOpen(action);
    }

    /// What a server listed is not so any more. Names stay good until there is another list: a server that changes its
    /// own all the time must not keep calls of others waiting.
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

    /// From a server that was ended. It is connected to again when the client wants something of it.
    void disconnect(GatewayServer server) {
        connections.disconnect(server);
    }

    /// Connections that are just being made are closed when they are there.
    @Override
    public void close() {
        connections.close();
    }
}
