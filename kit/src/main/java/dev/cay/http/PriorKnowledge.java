package dev.cay.http;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.server.ServerSessionListener;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// HTTP/2 without TLS, only for clients that begin with it.
///
/// Jetty loses the body of a request that asks to be upgraded, and Java's own client asks that of every plain server.
/// The offer may be ignored, so it is.
final class PriorKnowledge extends HTTP2CServerConnectionFactory {
    PriorKnowledge(HttpConfiguration configuration) {
        super(configuration);
    }

    @Override
    @SuppressWarnings("NullAway") // Null is how an upgrade is declined.
    public @Nullable Connection upgradeConnection(
            Connector connector, EndPoint endPoint, MetaData.Request request, HttpFields.Mutable answer) {
        // Knowing HTTP/2 beforehand comes here too, as a request of its own kind.
        return HttpMethod.PRI.is(request.getMethod())
                ? super.upgradeConnection(connector, endPoint, request, answer)
                : null;
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
