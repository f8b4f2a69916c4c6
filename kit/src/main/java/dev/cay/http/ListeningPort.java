package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.server.ConnectionFactory;
import org.jspecify.annotations.Nullable;

/// What is known of one listening socket: who answers, what is spoken first, and which connections came from it.
record ListeningPort(
        @Nullable SandboxId inside, ConnectionFactory protocol, Handler handler, Set<ClientEndPoint> connections) {

    ListeningPort(@Nullable SandboxId inside, ConnectionFactory protocol, Handler handler) {
        this(inside, protocol, handler, ConcurrentHashMap.newKeySet());
    }
}
