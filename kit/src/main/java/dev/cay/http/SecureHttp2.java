package dev.cay.http;

import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.server.ServerSessionListener;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.util.Callback;

/// HTTP/2 over TLS.
final class SecureHttp2 extends HTTP2ServerConnectionFactory {
    SecureHttp2(HttpConfiguration configuration) {
        super(configuration);
    }

    @Override
    protected ServerSessionListener newSessionListener(Connector connector, EndPoint endPoint) {
        return new HTTPServerSessionListener(endPoint) {
            @Override
            public void onFailure(Session session, Throwable failure, Callback callback) {
                BrokenHttp2.closeSoon(connector, endPoint);
                super.onFailure(session, failure, callback);
            }
        };
    }
}
