package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.ConnectionFactory;
import org.jspecify.annotations.Nullable;

/// One listening socket: its handler, its first protocol, its connections, and its limits.
///
/// Requests of a sandbox to the node cause work that the sandbox's own limits do not count, so each sandbox's port has
/// limits here. A port of the host serves all clients and has none.
///
/// @param running     requests in progress
/// @param rateLimiter limit of requests; null where there is none
/// @param unwanted    limit of bytes that are only discarded
record ListeningPort(
        @Nullable SandboxId inside,
        ConnectionFactory protocol,
        Handler handler,
        Set<ClientConnection> connections,
        AtomicInteger running,
        @Nullable RateLimiter rateLimiter,
        RateLimiter unwanted) {
    private static final int CONNECTIONS_INSIDE = 256;
    private static final int REQUESTS_INSIDE = 512;
    private static final int REQUESTS_PER_SECOND_INSIDE = 500;
    private static final int UNWANTED_PER_SECOND = 256 << 20;
    private static final int UNWANTED_PER_SECOND_INSIDE = 32 << 20;

    ListeningPort(@Nullable SandboxId inside, ConnectionFactory protocol, Handler handler) {
        this(
                inside,
                protocol,
                handler,
                ConcurrentHashMap.newKeySet(),
                new AtomicInteger(),
                inside == null ? null : new RateLimiter(REQUESTS_PER_SECOND_INSIDE),
                new RateLimiter(inside == null ? UNWANTED_PER_SECOND : UNWANTED_PER_SECOND_INSIDE));
    }

    boolean isFull() {
        return inside != null && connections.size() >= CONNECTIONS_INSIDE;
    }

    /// Whether there is one too many.
    boolean isOverfull() {
        return inside != null && connections.size() > CONNECTIONS_INSIDE;
    }

    boolean isBusy() {
        return inside != null && running.get() > REQUESTS_INSIDE;
    }
}
