package dev.cay.http;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// Passes exchanges on to HTTP/1.1 servers inside sandboxes, both ways at once and without buffering, upgrades
/// included.
///
/// Connections are pooled by {@link Upstream#key}, so that a resumed sandbox never gets a stale one.
public final class ReverseProxy implements AutoCloseable {
    /// Where to pass an exchange on to.
    ///
    /// @param key  the sandbox and its generation: connections are shared and cut by it
    /// @param host what to send as `Host` instead of the client's, or null to pass that through
    public record Upstream(
            String key,
            int port,
            Connector connector,
            @Nullable String host) {}

    /// Opens a TCP connection inside the sandbox, to 127.0.0.1 or, where nothing listens there, to ::1.
    public interface Connector {
        /// @throws java.net.ConnectException when the port is closed
        SocketChannel connect(int port) throws IOException;
    }

    public void start() {
        throw new UnsupportedOperationException();
    }

    /// Passes the exchange on and returns when it is over.
    ///
    /// @throws java.net.ConnectException when the port is closed; nothing was answered then
    public void forward(Exchange exchange, Upstream upstream) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Cuts every connection made for this key, pooled or in use.
    public void cut(String key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
