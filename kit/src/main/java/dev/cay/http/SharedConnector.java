package dev.cay.http;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Serves any number of listening sockets with one set of selectors and no acceptor threads.
///
/// Jetty's own `ServerConnector` owns exactly one socket, which it opens itself. Cay's sockets are opened elsewhere,
/// most of them in other network namespaces.
final class SharedConnector extends AbstractConnector {
    private static final Logger log = LoggerFactory.getLogger(SharedConnector.class);
    private static final Duration SELECTOR_TURN = Duration.ofSeconds(2);

    private final Selectors selectors;
    private final Map<SelectableChannel, ListeningPort> listeners = new ConcurrentHashMap<>();

    SharedConnector(Server server, Duration idleTimeout, ConnectionFactory... protocols) {
        super(server, null, null, null, 0, protocols);
        selectors = new Selectors();
        addBean(selectors, true);
        setIdleTimeout(idleTimeout.toMillis());
    }

    /// Serves a bound socket until the returned object is closed, which also cuts the socket's connections.
    Serving serve(ServerSocketChannel socket, ListeningPort listener) throws IOException {
        socket.configureBlocking(false);
        listeners.put(socket, listener);
        selectors.acceptor(socket);
        return new Serving(socket, listener);
    }

    @Override
    public Object getTransport() {
        return listeners.keySet();
    }

    @Override
    protected void accept(int acceptor) {
        throw new UnsupportedOperationException("there are no acceptor threads");
    }

    /// A listening socket while it is served.
    final class Serving implements Closeable {
        private final ServerSocketChannel socket;
        private final ListeningPort listener;

        private Serving(ServerSocketChannel socket, ListeningPort listener) {
            this.socket = socket;
            this.listener = listener;
        }

        void stopAccepting() throws IOException {
            socket.close();
            listeners.remove(socket);
            selectors.letGo();
        }

        @Override
        public void close() throws IOException {
            // First this: only then is it certain that no connection is just being accepted.
            stopAccepting();
            listener.connections().forEach(ClientConnection::cut);
            selectors.letGo();
        }
    }

    private final class Selectors extends SelectorManager {
        private final List<ManagedSelector> all = new CopyOnWriteArrayList<>();

        Selectors() {
            super(SharedConnector.this.getExecutor(), SharedConnector.this.getScheduler());
        }

        /// Waits until closed channels have left the selectors: before that their descriptors stay open and hold the
        /// port and the network namespace.
        void letGo() {
            if (!isRunning()) {
                return;
            }
            var turns = new CountDownLatch(all.size());
            for (ManagedSelector selector : all) {
                // Keys are dropped in the select between two updates, so the second one comes after it.
                selector.submit(_ -> selector.submit(_ -> turns.countDown()));
            }
            try {
                if (!turns.await(SELECTOR_TURN.toMillis(), TimeUnit.MILLISECONDS)) {
                    log.atWarn().log("selectors did not drop closed sockets in time");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        protected ManagedSelector newSelector(int id) {
            ManagedSelector selector = super.newSelector(id);
            all.add(selector);
            return selector;
        }

        /// Accepts all waiting connections here, and returns null to Jetty, which could not tell which socket they came
        /// from.
        @Override
        @SuppressWarnings("NullAway") // "null: none waiting" is this method's contract, but Jetty has no annotations
        protected SelectableChannel doAccept(SelectableChannel server) throws IOException {
            ListeningPort listener = listeners.get(server);
            try {
                SocketChannel accepted;
                while (listener != null && (accepted = ((ServerSocketChannel) server).accept()) != null) {
                    if (listener.isFull()) {
                        accepted.setOption(StandardSocketOptions.SO_LINGER, 0);
                        accepted.close();
                        continue;
                    }
                    accepted.configureBlocking(false);
                    accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    accept(accepted, listener);
                }
            } catch (ClosedChannelException e) {
                log.atDebug().log("listener closed while accepting");
            } catch (IOException e) {
                // Out of descriptors, most likely. The socket stays ready, so without a pause this would spin.
                log.atWarn().setCause(e).log("cannot accept a connection");
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
            return null;
        }

        @Override
        protected EndPoint newEndPoint(SelectableChannel channel, ManagedSelector selector, SelectionKey key) {
            var listener = (ListeningPort) key.attachment();
            var endPoint = new ClientEndPoint((SocketChannel) channel, selector, key, getScheduler(), listener);
            endPoint.setIdleTimeout(getIdleTimeout());
            return endPoint;
        }

        @Override
        public Connection newConnection(SelectableChannel channel, EndPoint endPoint, Object attachment) {
            return ((ListeningPort) attachment).protocol().newConnection(SharedConnector.this, endPoint);
        }

        @Override
        protected void endPointOpened(EndPoint endPoint) {
            super.endPointOpened(endPoint);
            onEndPointOpened(endPoint);
            var client = (ClientEndPoint) endPoint;
            // Added before it is counted: of two connections that arrive at the same time, the later one sees both.
            client.listener().connections().add(client);
            if (!client.isOpen()) {
                client.listener().connections().remove(client);
            } else if (client.listener().isOverfull()) {
                client.cut();
            }
        }

        @Override
        protected void endPointClosed(EndPoint endPoint) {
            var client = (ClientEndPoint) endPoint;
            client.listener().connections().remove(client);
            onEndPointClosed(endPoint);
            super.endPointClosed(endPoint);
        }
    }
}
