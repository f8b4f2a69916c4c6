package dev.cay.http;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
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
        // The first lines of HTTP/2 read as a request of that version; everything else is an offer.
        return request.getHttpVersion() == HttpVersion.HTTP_2
                ? super.upgradeConnection(connector, endPoint, request, answer)
                : null;
    }
}
