package dev.cay.http;

import java.nio.ByteBuffer;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.DetectorConnectionFactory;
import org.eclipse.jetty.server.SslConnectionFactory;

/// Serves TLS to clients whose first bytes are a handshake, and plain HTTP to all others on the same port. Some clients
/// use plain HTTP for every host with a port.
final class EitherProtocol extends DetectorConnectionFactory {
    private final ConnectionFactory plain;

    EitherProtocol(SslConnectionFactory tls, ConnectionFactory plain) {
        super(tls);
        this.plain = plain;
    }

    @Override
    protected void nextProtocol(Connector connector, EndPoint endPoint, ByteBuffer read) {
        upgradeToConnectionFactory(plain, connector, endPoint);
    }
}
