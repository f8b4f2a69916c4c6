package dev.cay.http;

import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.Request;

/// A request with another path and other headers; the query stays.
final class Readdressed extends Request.Wrapper {
    private final HttpURI uri;
    private final HttpFields headers;

    private Readdressed(Request request, HttpURI uri, HttpFields headers) {
        super(request);
        this.uri = uri;
        this.headers = headers;
    }

    static Request of(Request request, String path, Set<String> without, Map<String, String> headers) {
        var uri = HttpURI.build(
                request.getHttpURI(), path, null, request.getHttpURI().getQuery());
        var fields = HttpFields.build(request.getHeaders());
        without.forEach(fields::remove);
        headers.forEach(fields::put);
        return new Readdressed(request, uri.asImmutable(), fields.asImmutable());
    }

    @Override
    public HttpURI getHttpURI() {
        return uri;
    }

    @Override
    public HttpFields getHeaders() {
        return headers;
    }
}
