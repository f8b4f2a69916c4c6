package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/// One HTTP request with its answer, whatever the version of HTTP. Used by one thread at a time, but for {@link
/// #abort}, which any thread may call.
public final class Exchange {
    Exchange() {}

    public String method() {
        throw new UnsupportedOperationException();
    }

    /// The path as it was sent, still percent-encoded, without the query.
    public String path() {
        throw new UnsupportedOperationException();
    }

    /// The decoded value of a query parameter: the first one of that name.
    public @Nullable String query(String name) {
        throw new UnsupportedOperationException();
    }

    public java.util.List<String> queryAll(String name) {
        throw new UnsupportedOperationException();
    }

    /// A header of the request by its name in any case: the first one of that name.
    public @Nullable String header(String name) {
        throw new UnsupportedOperationException();
    }

    /// All headers of the request, names as sent.
    public java.util.List<java.util.Map.Entry<String, String>> headers() {
        throw new UnsupportedOperationException();
    }

    /// Host and port as the client named them (`Host` or `:authority`), or empty.
    public String authority() {
        throw new UnsupportedOperationException();
    }

    /// Whether the request came over TLS.
    public boolean secure() {
        throw new UnsupportedOperationException();
    }

    /// The sandbox inside which the connection was accepted, or null when it came from a host port.
    public @Nullable SandboxId inside() {
        throw new UnsupportedOperationException();
    }

    /// The decoded value of a `{name}` in the route's path.
    public String parameter(String name) {
        throw new UnsupportedOperationException();
    }

    /// The body as it arrives; not decompressed. Blocks for more until the client has sent all.
    public InputStream body() {
        throw new UnsupportedOperationException();
    }

    /// The body as JSON, at most 1 MiB; an empty body is read as `null`. Bad JSON is the client's error.
    public <T> @Nullable T json(Class<T> type) {
        throw new UnsupportedOperationException();
    }

    /// Sets a header of the answer; before the answer begins.
    public Exchange with(String name, String value) {
        throw new UnsupportedOperationException();
    }

    /// Answers without a body; says `Content-Length: 0` wherever a client could otherwise wait for one.
    public void send(int status) {
        throw new UnsupportedOperationException();
    }

    public void sendJson(int status, Object value) {
        throw new UnsupportedOperationException();
    }

    public void send(int status, String contentType, byte[] body) {
        throw new UnsupportedOperationException();
    }

    /// Begins an answer of unknown length. Every `flush` puts what was written on the wire, the first one with the
    /// head.
    public OutputStream stream(int status) {
        throw new UnsupportedOperationException();
    }

    /// Begins an answer of known length.
    public OutputStream stream(int status, long length) {
        throw new UnsupportedOperationException();
    }

    /// Whether the answer has begun, so that its status can no longer change.
    public boolean committed() {
        throw new UnsupportedOperationException();
    }

    /// Cuts the exchange: the client sees a reset, never a clean end. Safe from any thread, also when it is over.
    public void abort(String reason) {
        throw new UnsupportedOperationException();
    }

    /// Runs once when the exchange is over, however it ended; at once if it is over already.
    public void onEnd(Runnable action) {
        throw new UnsupportedOperationException();
    }
}
