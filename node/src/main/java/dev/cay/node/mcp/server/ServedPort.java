package dev.cay.node.mcp.server;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A server that listens at a port of its own sandbox: one process for all connections. Thread-safe but for
/// {@link #connect}, of which one runs at a time.
final class ServedPort {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(50);

    /// Starts the process.
    interface Starter {
        ServerProcess start(ServerLink.Listener listener, ServerProcess.Keeper keeper) throws IOException;
    }

    private final String name;
    private final ServerLaunch.Port port;
    private final PortLinks links;
    private final SideSandbox side;
    private final Starter starter;
    private final Set<Link> open = ConcurrentHashMap.newKeySet();
    private volatile @Nullable String over;
    private @Nullable ServerProcess process;

    ServedPort(String name, ServerLaunch.Port port, PortLinks links, SideSandbox side, Starter starter) {
        this.name = name;
        this.port = port;
        this.links = links;
        this.side = side;
        this.starter = starter;
    }

    boolean isIdle() {
        return open.isEmpty();
    }

    /// Starts the server unless it runs, and waits until it listens.
    ///
    /// @param left runs once when the connection has ended, for any reason
    ServerLink connect(ServerLink.Listener listener, Runnable left) throws IOException {
        if (process == null || over != null) {
            over = null;
            process = starter.start(new Deaf(), new Alone());
        }
        awaitPort();
        var link = new Link(listener, left);
        open.add(link);
        boolean connected = false;
        try {
            link.target = links.connect(name, side::dial, port, link);
            connected = true;
            return link;
        } finally {
            if (!connected) {
                open.remove(link);
            }
        }
    }

    private void awaitPort() {
        long end = System.nanoTime() + START_LIMIT.toNanos();
        while (true) {
            try (var _ = side.dial(port.number())) {
                return;
            } catch (IOException closed) {
                String why = over;
                if (why != null) {
                    throw new CayException(ErrorKind.FAILED, why);
                }
                if (System.nanoTime() > end) {
                    throw new CayException(
                            ErrorKind.DEADLINE_EXCEEDED,
                            "server %s does not listen at its port %d".formatted(name, port.number()));
                }
                pause();
            }
        }
    }

    private void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the start of server %s was interrupted".formatted(name), e);
        }
    }

    void close() {
        open.forEach(Link::close);
        var now = process;
        if (now != null) {
            now.abandon();
        }
    }

    /// Ignores the process's output.
    private final class Deaf implements ServerLink.Listener {
        @Override
        public void heard(Message message) {}

        @Override
        public void over(String reason) {
            over = reason;
            open.forEach(link -> link.over(reason));
        }
    }

    /// Ignores the process's end.
    private final class Alone implements ServerProcess.Keeper {
        @Override
        public void over(ServerProcess ended, Duration lived, @Nullable String reason) {
            if (over == null) {
                over = reason == null ? "server %s was ended".formatted(name) : reason;
            }
        }

        @Override
        public void gone() {}

        @Override
        public @Nullable String lost() {
            return null;
        }
    }

    /// One connection to the port.
    private final class Link implements ServerLink, ServerLink.Listener {
        private final ServerLink.Listener listener;
        private final Runnable left;
        private volatile @Nullable ServerLink target;

        Link(ServerLink.Listener listener, Runnable left) {
            this.listener = listener;
            this.left = left;
        }

        @Override
        public void send(Message message) {
            var now = target;
            if (now == null) {
                throw new CayException(ErrorKind.UNAVAILABLE, "server %s is not connected".formatted(name));
            }
            now.send(message);
        }

        @Override
        public void heard(Message message) {
            listener.heard(message);
        }

        @Override
        public void letGo(JsonNode request) {
            listener.letGo(request);
        }

        @Override
        public void over(String reason) {
            if (open.remove(this)) {
                left.run();
                listener.over(reason);
            }
        }

        @Override
        public void close() {
            var now = target;
            if (now != null) {
                now.close();
            }
            if (open.remove(this)) {
                left.run();
            }
        }
    }
}
