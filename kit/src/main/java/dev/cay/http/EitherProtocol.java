package dev.cay.http;

import java.nio.ByteBuffer;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.DetectorConnectionFactory;
import org.eclipse.jetty.server.SslConnectionFactory;

/// TLS for clients whose first bytes begin a handshake, plain HTTP for all others. Some clients take every host with a
/// port for a plain one.
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
