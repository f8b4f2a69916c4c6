package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// A client's connections to the servers of its gateway, and what it was told they have. Thread-safe.
///
/// Connections are made when the client first wants something, all at once, and again when one broke. Many a client
/// comes, says hello and never wants anything.
final class Servers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Servers.class);

    /// Clients give up after a minute: who is not there by then is told of later.
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    private static final Duration MOMENT = Duration.ofMillis(250);
    private static final int ROOM_TRIES = 120;

    /// Told by the protocol's older revisions for what is not there.
    private static final int RESOURCE_NOT_FOUND = -32002;

    /// What a client called by a name of ours.
    ///
    /// @param own what its server calls it
    record Named(Upstream upstream, String own) {}

    /// Where a server is in this session.
    static final class Place {
        private final GatewayServer server;
        private @Nullable CompletableFuture<Upstream> coming;
        private final Map<Listed, List<ObjectNode>> lists = new EnumMap<>(Listed.class);

        private Place(GatewayServer server) {
            this.server = server;
        }

        GatewayServer server() {
            return server;
        }
    }

    private final McpGateway gateway;
    private final Upstream.Audience audience;
    private final Consumer<Listed> changed;
    private ObjectNode hello = Json.mapper().createObjectNode();
    private List<Place> places = List.of();
    private final Map<Listed, Map<String, MergedList.Entry>> names = new EnumMap<>(Listed.class);
    private boolean closed;

    /// @param changed told when a list is not as the client knows it
    Servers(McpGateway gateway, Upstream.Audience audience, Consumer<Listed> changed) {
        this.gateway = gateway;
        this.audience = audience;
        this.changed = changed;
    }

    /// @param given the client's `initialize`
    void begin(ObjectNode given) {
        synchronized (this) {
            hello = given;
        }
        refresh();
    }

    /// Goes by what servers the gateway has now.
    void refresh() {
        var gone = new ArrayList<Place>();
        synchronized (this) {
            var known = new HashMap<GatewayServer, Place>();
            places.forEach(place -> known.put(place.server, place));
            places = gateway.servers().stream()
                    .map(server -> Optional.ofNullable(known.remove(server)).orElseGet(() -> new Place(server)))
                    .toList();
            gone.addAll(known.values());
            names.clear();
        }
        gone.forEach(Servers::disconnect);
    }

    private synchronized List<Place> places() {
        return places;
    }

    /// The one there is, or a new one where that is over.
    private CompletableFuture<Upstream> connection(Place place) {
        CompletableFuture<Upstream> fresh;
        synchronized (this) {
            var there = place.coming;
            if (there != null && isUsable(there)) {
                return there;
            }
            if (closed) {
                throw new RpcException(RpcException.INTERNAL_ERROR, "the session has ended");
            }
            place.lists.clear();
            fresh = new CompletableFuture<>();
            place.coming = fresh;
        }
        Thread.ofVirtual().name("mcp-connect-" + place.server.key()).start(() -> connect(place, fresh));
        return fresh;
    }

    private static boolean isUsable(CompletableFuture<Upstream> there) {
        return !there.isDone()
                || (!there.isCompletedExceptionally() && !there.join().isOver());
    }

    private void connect(Place place, CompletableFuture<Upstream> result) {
        try {
            var upstream = open(place);
            place.server.connected(upstream);
            result.complete(upstream);
            synchronized (this) {
                if (!closed && places.contains(place)) {
                    return;
                }
            }
            upstream.close();
        } catch (CayException e) {
            fail(place, result, e.userMessage());
        } catch (RpcException e) {
            fail(place, result, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("server", place.server.key()).log("an MCP server is not reached");
            fail(place, result, "it is not reached; the log of Cay says why");
        }
    }

    /// A server has only so many clients at a time. Those of sessions that were left lying go first, and take a moment
    /// to be gone.
    private Upstream open(Place place) {
        boolean asked = false;
        for (int tries = 1; ; tries++) {
            try {
                return place.server.connect(hello, audience);
            } catch (CayException e) {
                if (e.kind() != ErrorKind.EXHAUSTED || tries == ROOM_TRIES) {
                    throw e;
                }
                asked = asked || gateway.makeRoom(place.server);
                LockSupport.parkNanos(MOMENT.toNanos());
            }
        }
    }

    /// The connection to a server that nobody waits for, if there is one.
    Optional<Upstream> idle(GatewayServer server) {
        return places().stream()
                .filter(place -> place.server == server)
                .flatMap(place -> Stream.ofNullable(place.coming))
                .filter(coming -> coming.isDone() && !coming.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .filter(upstream -> !upstream.isOver() && !upstream.idle().isZero())
                .findFirst();
    }

    private static void fail(Place place, CompletableFuture<Upstream> result, String why) {
        place.server.failed(why);
        result.completeExceptionally(new RpcException(
                RpcException.INTERNAL_ERROR, "%s cannot be used: %s".formatted(place.server.key(), Texts.brief(why))));
    }

    private Upstream await(Place place) {
        return ServerWait.get(place.server, connection(place), PATIENCE);
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
        var all = places();
        var coming = all.stream().map(place -> items(place, kind)).toList();
        ServerWait.forAll(all.stream().map(Place::server).toList(), coming, patience);
        var merged = new MergedList(kind, gateway.meta().names(kind));
        for (int i = 0; i < all.size(); i++) {
            var place = all.get(i);
            try {
                var own = ServerWait.get(place.server, coming.get(i), Duration.ZERO);
                own.forEach(item -> merged.add(place, item));
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

    private CompletableFuture<List<ObjectNode>> items(Place place, Listed kind) {
        synchronized (this) {
            var known = place.lists.get(kind);
            if (known != null) {
                return CompletableFuture.completedFuture(known);
            }
        }
        return connection(place)
                .thenApplyAsync(
                        upstream -> fetch(place, upstream, kind),
                        work -> Thread.ofVirtual().name("mcp-list").start(work));
    }

    /// One that does not tell has nothing until it says that something changed, or is connected anew: who waited once
    /// in vain need not do so again.
    private List<ObjectNode> fetch(Place place, Upstream upstream, Listed kind) {
        var fetched = List.<ObjectNode>of();
        try {
            fetched = upstream.can(kind.capability()) ? new ServerListing(upstream, kind).fetch() : fetched;
        } catch (RpcException e) {
            upstream.server().failed(String.valueOf(e.getMessage()));
        }
        if (kind == Listed.TOOLS && !fetched.isEmpty()) {
            place.server.counted(fetched.size());
        }
        synchronized (this) {
            place.lists.put(kind, fetched);
        }
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
        return new Named(await(entry.place()), entry.own());
    }

    /// Why what was asked for may come later; empty if nothing is being installed.
    private String installing() {
        String keys = places().stream()
                .map(Place::server)
                .filter(GatewayServer::isPreparing)
                .map(GatewayServer::key)
                .collect(Collectors.joining(", "));
        return keys.isEmpty() ? "" : "; still being installed: " + keys;
    }

    private synchronized Optional<MergedList.Entry> find(Listed kind, String name) {
        return Optional.ofNullable(names.getOrDefault(kind, Map.of()).get(name));
    }

    /// Who has what lies at an address.
    Upstream ofResource(String uri) {
        merged(Listed.RESOURCES, PATIENCE);
        var listed = find(Listed.RESOURCES, uri);
        if (listed.isPresent()) {
            return await(listed.get().place());
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
        return fitting.map(entry -> await(entry.place())).orElseGet(() -> capable("resources", uri));
    }

    /// Servers need not list all they have; where only one has any, it is asked.
    private Upstream capable(String capability, String uri) {
        var capable = places().stream()
                .map(place -> connection(place).handle((upstream, _) -> upstream))
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
        var all = places();
        if (all.size() != 1) {
            throw new RpcException(RpcException.METHOD_NOT_FOUND, "unknown method: " + Texts.brief(method));
        }
        return await(all.getFirst());
    }

    /// Each that is able, one after the other; who fails is skipped.
    void toAll(String capability, Consumer<Upstream> action) {
        for (var place : places()) {
            try {
                var upstream = await(place);
                if (upstream.can(capability)) {
                    action.accept(upstream);
                }
            } catch (RpcException e) {
                log.atDebug().addKeyValue("reason", e.getMessage()).log("a server is skipped");
            }
        }
    }

    /// Those that are connected now.
    void toOpen(Consumer<Upstream> action) {
        for (var place : places()) {
            var coming = place.coming;
            if (coming != null && coming.isDone() && !coming.isCompletedExceptionally()) {
                try {
                    action.accept(coming.join());
                } catch (RpcException e) {
                    log.atDebug().addKeyValue("reason", e.getMessage()).log("a server is skipped");
                }
            }
        }
    }

    /// What a server listed is not so any more. Names stay good until there is another list: a server that changes its
    /// own all the time must not keep calls of others waiting.
    synchronized void forget(Upstream from, Listed kind) {
        for (var place : places) {
            if (place.server == from.server()) {
                place.lists.remove(kind);
            }
        }
    }

    /// From a server that was ended. It is connected to again when the client wants something of it.
    void disconnect(GatewayServer server) {
        places().stream().filter(place -> place.server == server).forEach(Servers::disconnect);
    }

    private static void disconnect(Place place) {
        var coming = place.coming;
        if (coming != null) {
            var _ = coming.thenAccept(Upstream::close);
        }
    }

    /// Those that are just being made are closed when they are there.
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        places().forEach(Servers::disconnect);
    }
}
