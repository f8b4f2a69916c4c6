package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import javax.net.ssl.SSLContext;

/// Accepts connections and turns them into exchanges: HTTP/1.1, and HTTP/2 by ALPN on TLS or by prior knowledge.
///
/// One server, one selector and one pool of virtual threads for all listeners, whether a host port or a socket that
/// was opened inside a sandbox's network namespace. A listener costs a descriptor, not a thread.
public final class HttpListeners implements AutoCloseable {
    public HttpListeners() {}

    public void start() {
        throw new UnsupportedOperationException();
    }

    /// Serves a host address; port 0 picks one. Returns where it listens.
    public InetSocketAddress listen(InetSocketAddress address, Handler handler) throws IOException {
        throw new UnsupportedOperationException();
    }

    public InetSocketAddress listenTls(InetSocketAddress address, SSLContext tls, Handler handler) throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Serves a bound socket inside a sandbox, plain or TLS. Closing the returned object closes the socket and, at
    /// once, all connections accepted from it.
    public AutoCloseable adopt(ServerSocketChannel socket, SandboxId inside, Handler handler) throws IOException {
        throw new UnsupportedOperationException();
    }

    public AutoCloseable adoptTls(ServerSocketChannel socket, SandboxId inside, SSLContext tls, Handler handler)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    /// Stops accepting, gives open exchanges a moment, then cuts them.
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
