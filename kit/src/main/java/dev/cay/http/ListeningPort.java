package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.ConnectionFactory;
import org.jspecify.annotations.Nullable;

/// What is known of one listening socket: who answers, what is spoken first, which connections came from it, and what
/// may come from it.
///
/// What a sandbox asks of the node is work that no limit of the sandbox's counts, so it may have only so much of it. A
/// port of the host serves everybody, and has no limits.
///
/// @param running  requests under way
/// @param pace     of requests; null where there is no limit
/// @param unwanted pace of bytes that are only thrown away
record ListeningPort(
        @Nullable SandboxId inside,
        ConnectionFactory protocol,
        Handler handler,
        Set<ClientEndPoint> connections,
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
