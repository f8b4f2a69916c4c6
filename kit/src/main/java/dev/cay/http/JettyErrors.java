package dev.cay.http;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/// Renders errors that Jetty finds before there is an exchange, such as a malformed head, in Cay's own form.
final class JettyErrors implements Request.Handler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Object message = request.getAttribute(ErrorHandler.ERROR_MESSAGE);
        var body = new LinkedHashMap<String, Object>();
        body.put("code", response.getStatus());
        body.put("message", message == null ? "bad request" : message.toString());
        byte[] bytes = Json.write(body);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
        Exchange.addRetry(response.getHeaders(), response.getStatus());
        response.write(true, ByteBuffer.wrap(bytes), callback);
        return true;
    }
}
