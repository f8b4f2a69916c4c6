package dev.cay.proxy;

import java.io.IOException;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// The server that an exchange is passed on to.
///
/// @param key  the sandbox and its generation: connections are shared and cut by it
/// @param host the `Host` to send instead of the client's, or null to pass that through
/// @param tls  null for a server without TLS
public record Upstream(
        String key,
        int port,
        Connector connector,
        @Nullable String host,
        @Nullable Securing tls) {
    /// A server without TLS.
    public Upstream(String key, int port, Connector connector, @Nullable String host) {
        this(key, port, connector, host, null);
    }

    /// Starts TLS on a connection.
    public interface Securing {
        /// Returns when the handshake is done. Closing the result closes the given socket.
        SSLSocket secure(Socket plain) throws IOException;

        /// The engine for a connection that shall speak HTTP/2; null where only HTTP/1.1 is spoken.
        default @Nullable SSLEngine forHttp2() {
            return null;
        }
    }

    /// Opens a TCP connection inside the sandbox, to 127.0.0.1 or, where nothing listens there, to ::1.
    public interface Connector {
        /// @throws java.net.ConnectException when the port is closed
        SocketChannel connect(int port) throws IOException;
    }
}
