package dev.cay.proxy;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// All connections into sandboxes: those in use, so that they can be cut, and idle ones for the next request.
final class UpstreamPool {
    private static final Duration KEPT = Duration.ofSeconds(30);
    private static final Duration SILENT = Duration.ofSeconds(610);

    private record Place(String key, int port) {}

    private final Map<String, Set<UpstreamConnection>> open = new HashMap<>();
    private final Map<Place, Deque<UpstreamConnection>> kept = new HashMap<>();

    /// A kept connection that the server has not closed, or null.
    @Nullable
    UpstreamConnection take(Upstream upstream) {
        while (true) {
            UpstreamConnection connection = poll(new Place(upstream.key(), upstream.port()));
            if (connection == null || connection.isNew() || connection.stillGood()) {
                return connection;
            }
            drop(connection);
        }
    }

    /// @throws java.net.ConnectException when the port is closed
    UpstreamConnection open(Upstream upstream) throws IOException {
        var connection = new UpstreamConnection(upstream, line(upstream));
        synchronized (this) {
            open.computeIfAbsent(upstream.key(), _ -> new HashSet<>()).add(connection);
        }
        return connection;
    }

    private static UpstreamLine line(Upstream upstream) throws IOException {
        SocketChannel channel = upstream.connector().connect(upstream.port());
        try {
            var line = UpstreamLine.plain(channel);
            return upstream.tls() == null
                    ? line
                    : UpstreamLine.secured(upstream.tls().secure(channel.socket()), channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Keeps a connection for the next request to the same port, unless it was cut meanwhile.
    synchronized void keep(UpstreamConnection connection) {
        if (connection.wasCut()) {
            return;
        }
        connection.pooled(true);
        kept.computeIfAbsent(place(connection), _ -> new ArrayDeque<>()).push(connection);
    }

    void drop(UpstreamConnection connection) {
        synchronized (this) {
            forget(connection);
        }
        connection.close();
    }

    void cut(String key) {
        List<UpstreamConnection> all;
        synchronized (this) {
            all = List.copyOf(open.getOrDefault(key, Set.of()));
            all.forEach(this::forget);
        }
        all.forEach(UpstreamConnection::cut);
    }

    /// Closes what has been silent for too long.
    void sweep() {
        List<UpstreamConnection> old;
        synchronized (this) {
            old = open.values().stream()
                    .flatMap(Set::stream)
                    .filter(connection -> connection.idle().compareTo(connection.pooled() ? KEPT : SILENT) > 0)
                    .toList();
            old.forEach(this::forget);
        }
        old.forEach(UpstreamConnection::close);
    }

    void close() {
        List<String> keys;
        synchronized (this) {
            keys = List.copyOf(open.keySet());
        }
        keys.forEach(this::cut);
    }

    private synchronized @Nullable UpstreamConnection poll(Place place) {
        Deque<UpstreamConnection> waiting = kept.get(place);
        if (waiting == null) {
            return null;
        }
        UpstreamConnection connection = waiting.pop();
        if (waiting.isEmpty()) {
            kept.remove(place);
        }
        connection.pooled(false);
        return connection;
    }

    private void forget(UpstreamConnection connection) {
        String key = connection.upstream().key();
        Set<UpstreamConnection> same = open.get(key);
        if (same != null && same.remove(connection) && same.isEmpty()) {
            open.remove(key);
        }
        Deque<UpstreamConnection> waiting = kept.get(place(connection));
        if (waiting != null && waiting.remove(connection) && waiting.isEmpty()) {
            kept.remove(place(connection));
        }
    }

    private static Place place(UpstreamConnection connection) {
        return new Place(connection.upstream().key(), connection.upstream().port());
    }
}
