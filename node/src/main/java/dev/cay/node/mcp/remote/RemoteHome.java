package dev.cay.node.mcp.remote;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.web.Dialer;
import dev.cay.web.Lines;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A server that runs elsewhere and is called by HTTP: nothing is started, and the user's credentials go along.
public final class RemoteHome implements ServerHome {
    private static final int MOST_LINKS = 128;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2);

    private final String name;
    private final LaunchPlan.Remote remote;
    private final Lines lines;
    private final RemoteCredentials credentials;
    private final BooleanSupplier online;
    private final Limits limits;
    private final Semaphore large = new Semaphore(1);
    private final Semaphore places = new Semaphore(MOST_LINKS);
    private final Set<ServerLink> links = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private volatile boolean silent;

    /// @param name        what users know the server by
    /// @param credentials what the server is shown beside the headers of its entry
    /// @param online      whether its sandbox may reach the internet: no server is a way out for one that may not
    public RemoteHome(
            String name, LaunchPlan.Remote remote, Lines lines, RemoteCredentials credentials, BooleanSupplier online) {
        this(name, remote, lines, credentials, online, Limits.USUAL);
    }

    RemoteHome(
            String name,
            LaunchPlan.Remote remote,
            Lines lines,
            RemoteCredentials credentials,
            BooleanSupplier online,
            Limits limits) {
        this.name = name;
        this.credentials = credentials;
        this.online = online;
        this.remote = remote;
        this.lines = lines;
        this.limits = limits;
        if (remote.url().getHost() == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "%s has an address without a host name".formatted(name));
        }
        remote.headers().forEach((header, value) -> {
            if (!header.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+") || value.chars().anyMatch(Character::isISOControl)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "%s has a header that cannot be sent".formatted(name));
            }
        });
    }

    /// Checks the sandbox's network alone: whether the server answers shows when it is called.
    @Override
    public void prepare() {
        if (!online.getAsBoolean()) {
            throw offline();
        }
    }

    /// Connects to the server's host without a request.
    @Override
    public void reach() {
        try (var client = new WebClient(remote, lines, credentials, large)) {
            client.reach();
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "%s cannot be reached: %s".formatted(name, Dialer.why(e)), e);
        }
    }

    @Override
    public ServerLink connect(ServerLink.Listener listener) {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "%s takes no more connections".formatted(name));
        }
        prepare();
        if (!places.tryAcquire()) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "%s has %d connections, and there may be no more; close some".formatted(name, MOST_LINKS));
        }
        var place = new Place();
        var inbound = new InboundMessages(name, listener);
        var posts = new Posts(name, inbound, limits.turn());
        var client = new WebClient(remote, lines, credentials, large);
        boolean done = false;
        try {
            var link = switch (remote.transport()) {
                case STREAMABLE_HTTP -> StreamableLink.open(call(client), inbound, posts, place::leave);
                case SSE -> SseLink.open(call(client), inbound, posts, place::leave);
            };
            place.take(link);
            if (!online.getAsBoolean()) {
                cut();
            }
            if (closed) {
                link.close();
            }
            done = true;
            return link;
        } catch (IOException | CayException e) {
            throw new CayException(kind(e), posts.sentence(e), e);
        } finally {
            if (!done) {
                client.close();
                place.leave(null);
            }
        }
    }

    /// One of the allowed connections. It is released once, however often its end is reported.
    private final class Place {
        private boolean left;

        synchronized void take(ServerLink link) {
            if (!left) {
                links.add(link);
            }
        }

        synchronized void leave(@Nullable ServerLink link) {
            if (link != null) {
                links.remove(link);
            }
            if (!left) {
                left = true;
                places.release();
            }
        }
    }

    @Override
    public void awaitRoom(Duration limit) {
        try {
            if (places.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                places.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private LinkTarget call(WebClient client) {
        return new LinkTarget(name, remote.url(), limits, client, this::anotherClient);
    }

    private WebClient anotherClient() {
        if (silent) {
            throw offline();
        }
        return new WebClient(remote, lines, credentials, large);
    }

    private CayException offline() {
        return new CayException(
                ErrorKind.PERMISSION_DENIED,
                "%s runs elsewhere, and this sandbox may not reach the internet".formatted(name));
    }

    private static ErrorKind kind(Exception failure) {
        return failure instanceof CayException refused ? refused.kind() : ErrorKind.UNAVAILABLE;
    }

    @Override
    public void cut() {
        silent = true;
        close();
    }

    @Override
    public void close() {
        closed = true;
        var ends = links.stream()
                .map(link -> Thread.ofVirtual().name("mcp-remote").start(link::close))
                .toList();
        try {
            for (var end : ends) {
                boolean _ = end.join(CLOSE_LIMIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
