package dev.cay.node.egress;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.SocketEvents;
import dev.cay.node.linux.TcpSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that accepts connections of sandboxes. A connection that must show a name stays here until it has sent
/// something, because a thread started earlier would be woken twice.
final class EgressAcceptor implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EgressAcceptor.class);
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration CHECK = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final long LISTENER = 0;

    private final Descriptor listener;
    private final Function<TcpSocket.Accepted, Optional<EgressConnection>> admission;
    private final Consumer<EgressConnection> begin;
    private final SocketEvents events;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("egress-accept").unstarted(this::work);
    private final Map<Long, EgressConnection> silent = new HashMap<>();
    private long ids = LISTENER;
    private boolean mayAccept;
    private long checked = System.nanoTime();
    private volatile boolean closed;

    /// @param listener  taken, and closed at the end
    /// @param admission decides whether a connection is taken at all
    /// @param begin     starts a connection's own thread
    EgressAcceptor(
            Descriptor listener,
            Function<TcpSocket.Accepted, Optional<EgressConnection>> admission,
            Consumer<EgressConnection> begin)
            throws IOException {
        this.listener = listener;
        this.admission = admission;
        this.begin = begin;
        this.events = new SocketEvents();
        events.add(listener, LISTENER);
    }

    void start() {
        thread.start();
    }

    private void work() {
        try {
            while (!closed) {
                Duration limit = mayAccept ? PAUSE : silent.isEmpty() ? LONG : CHECK;
                events.await(Math.toIntExact(limit.toMillis()), this::ready);
                if (mayAccept) {
                    accept();
                }
                beginThoseWhoseTimeIsOver();
            }
        } catch (IOException | RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .log("the accept thread of the egress path failed; connections of sandboxes are not accepted");
        } finally {
            listener.close();
            events.close();
        }
    }

    private void ready(long id) {
        if (id == LISTENER) {
            mayAccept = true;
            return;
        }
        var connection = silent.remove(id);
        if (connection != null) {
            begin.accept(connection);
        }
    }

    /// Accepts all waiting connections. After a failure, the rest waits a moment.
    private void accept() {
        while (!closed) {
            try {
                var next = TcpSocket.accept(listener);
                if (next.isEmpty()) {
                    mayAccept = false;
                    return;
                }
                admission.apply(next.get()).ifPresent(this::take);
            } catch (ErrnoException e) {
                // Out of descriptors, most likely; or the client was quicker to leave.
                log.atWarn().setCause(e).log("a connection of a sandbox cannot be accepted");
                return;
            } catch (IOException | RuntimeException e) {
                log.atWarn().setCause(e).log("a connection of a sandbox was lost");
            }
        }
    }

    private void take(EgressConnection connection) {
        if (!connection.mustSpeak()) {
            begin.accept(connection);
            return;
        }
        long id = ++ids;
        silent.put(id, connection);
        try {
            events.addOnce(connection.guest().descriptor(), id);
        } catch (ErrnoException e) {
            silent.remove(id);
            log.atDebug().setCause(e).log("a connection on the egress path was closed before its first bytes");
            begin.accept(connection);
        }
    }

    /// Starts the connections whose time limit has passed; their own threads refuse them. Done rarely, because there
    /// may be many.
    private void beginThoseWhoseTimeIsOver() {
        if (System.nanoTime() - checked < CHECK.toNanos()) {
            return;
        }
        checked = System.nanoTime();
        silent.values().removeIf(connection -> {
            boolean late = connection.late();
            if (late) {
                begin.accept(connection);
            }
            return late;
        });
    }

    @Override
    public void close() {
        closed = true;
        events.wake();
    }
}
