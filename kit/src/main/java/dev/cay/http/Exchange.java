package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// One HTTP request with its answer, for every version of HTTP. Used by one thread at a time, except for {@link
/// #abort}, which any thread may call, and for body and answer, which two threads may use at the same time.
///
/// The next read or write fails after the client has disconnected. {@link #onEnd} reports that without either: on
/// HTTP/2 always, on HTTP/1.1 once the request's body has been read to its end and a few milliseconds have passed.
public final class Exchange {
    private static final Duration SENT_LIMIT = Duration.ofSeconds(60);
    private static final Duration LINGER = Duration.ofSeconds(5);

    private Request request;
    private final Response response;
    private final Callback callback;
    private final ClientConnection connection;
    private final LargeMessages messages;
    private final Deadlines deadlines;
    private final ClientAddresses clients;
    private final RequestBody body;
    private final AnswerStream answer;
    private final EndOfExchange end = new EndOfExchange();
    private final ClientWatch watch;
    private @Nullable QueryString query;
    private @Nullable String upstreamHost;
    private Map<String, String> parameters = Map.of();
    private String route = "";
    private final List<Map.Entry<String, String>> subjects = new ArrayList<>();
    private volatile boolean takenOver;

    Exchange(
            Request request,
            Response response,
            Callback callback,
            ClientConnection connection,
            LargeMessages messages,
            Deadlines deadlines,
            ClientAddresses clients) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.connection = connection;
        this.messages = messages;
        this.deadlines = deadlines;
        this.clients = clients;
        this.body = new RequestBody(request, this::watch);
        this.watch = new ClientWatch(connection::watch, connection::unwatch, deadlines.waits(), end::clientGone);
        this.answer = new AnswerStream(response, () -> abort("the client does not read"));
        // A handler may be silent for longer than a connection may be idle.
        request.addIdleTimeoutListener(_ -> false);
        request.addFailureListener(_ -> end.clientGone());
    }

    /// Reserves memory for a message of this exchange that is held as a whole.
    public LargeMessages.Room room() {
        var late = new TimeoutException("a large message did not come within " + SENT_LIMIT);
        return messages.room(connection.inside(), () -> deadlines.after(SENT_LIMIT, () -> body.fail(late)));
    }

    /// Runs a short action when this time is up, unless it is cancelled before.
    public Future<?> after(Duration time, Runnable action) {
        return deadlines.after(time, action);
    }

    public String method() {
        return request.getMethod();
    }

    /// The path as it was sent, still percent-encoded, without the query.
    public String path() {
        String path = request.getHttpURI().getPath();
        return path == null || path.isEmpty() ? "/" : path;
    }

    /// The query as it was sent, still percent-encoded, without the question mark; null if there is none.
    public @Nullable String rawQuery() {
        return request.getHttpURI().getQuery();
    }

    /// The decoded value of a query parameter: the first one of that name.
    public @Nullable String query(String name) {
        List<String> values = queryAll(name);
        return values.isEmpty() ? null : values.getFirst();
    }

    public List<String> queryAll(String name) {
        if (query == null) {
            query = QueryString.parse(rawQuery());
        }
        return query.all(name);
    }

    /// A header of the request by its name in any case: the first one of that name.
    public @Nullable String header(String name) {
        return request.getHeaders().get(name);
    }

    /// Goes on as a request for another path of this server, for a handler that passes it to another one.
    ///
    /// @param path    as a client would send it
    /// @param without names of headers that are taken off
    /// @param headers that take the place of those of their names
    public Exchange goOnAt(String path, Set<String> without, Map<String, String> headers) {
        request = Readdressed.of(request, path, without, headers);
        return this;
    }

    /// All headers of the request, names as sent.
    public List<Map.Entry<String, String>> headers() {
        var all = new ArrayList<Map.Entry<String, String>>();
        for (HttpField field : request.getHeaders()) {
            String value = field.getValue();
            all.add(Map.entry(field.getName(), value == null ? "" : value));
        }
        return all;
    }

    /// Host and port as the client named them (`Host` or `:authority`), or empty.
    public String authority() {
        String host = request.getHeaders().get(HttpHeader.HOST);
        if (host != null && !host.isEmpty()) {
            return host;
        }
        String authority = request.getHttpURI().getAuthority();
        return authority == null ? "" : authority;
    }

    /// Whether the request came over TLS.
    public boolean secure() {
        return request.isSecure();
    }

    /// The sandbox inside which the connection was accepted, or null when it came from a host port.
    public @Nullable SandboxId inside() {
        return connection.inside();
    }

    /// The address of the client, without a port: the peer of the connection, unless that is a proxy which the
    /// operator trusts. A peer inside a sandbox is never trusted.
    public String peer() {
        String peer = Request.getRemoteAddr(request);
        return inside() == null ? clients.client(peer, request.getHeaders().getValuesList("X-Forwarded-For")) : peer;
    }

    /// Address and port that the connection comes from.
    public SocketAddress remote() {
        return request.getConnectionMetaData().getRemoteSocketAddress();
    }

    /// The local port that the client connected to.
    public int localPort() {
        return Request.getLocalPort(request);
    }

    /// Sets the `Host` that the server inside sees instead of the client's. The edge sets it, the last hop uses it.
    public Exchange upstreamHost(String host) {
        upstreamHost = host;
        return this;
    }

    /// See {@link #upstreamHost(String)}; null to pass the client's through.
    public @Nullable String upstreamHost() {
        return upstreamHost;
    }

    /// The path of the route that the request goes by, like `/sandboxes/{sandboxID}`; empty before there is one.
    public String route() {
        return route;
    }

    /// The decoded values of all `{name}` in the route's path.
    public Map<String, String> parameters() {
        return parameters;
    }

    /// The decoded value of a `{name}` in the route's path.
    public String parameter(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the route has no {" + name + "}");
        }
        return value;
    }

    /// Adds to the audit log an id that the request made or changed and that its path does not have, like `sandbox` and
    /// its id. Never a name or a secret.
    public Exchange about(String kind, String id) {
        subjects.add(Map.entry(kind, id));
        return this;
    }

    /// See {@link #about}; in the order of the notes.
    public List<Map.Entry<String, String>> subjects() {
        return List.copyOf(subjects);
    }

    /// The body as it arrives; not decompressed. Blocks for more until the client has sent all.
    public InputStream body() {
        return body;
    }

    /// The body, whose reads fail when they wait longer than this for the client.
    public InputStream body(Duration patience) {
        body.patience(patience);
        return body;
    }

    /// The body as JSON, at most 1 MiB; an empty body is read as `null`. Bad JSON is the client's error.
    public <T> @Nullable T json(Class<T> type) {
        return body.json(type);
    }

    /// The body as the fields of an HTML form, at most 64 KiB; of several fields with one name the first.
    public Map<String, String> form() {
        return body.form();
    }

    /// The value of a cookie of the request: the first one of that name.
    public @Nullable String cookie(String name) {
        return Request.getCookies(request).stream()
                .filter(cookie -> cookie.getName().equals(name))
                .map(HttpCookie::getValue)
                .findFirst()
                .orElse(null);
    }

    /// Sets a header of the answer. Call this before the answer begins.
    public Exchange with(String name, String value) {
        response.getHeaders().put(name, value);
        return this;
    }

    /// Adds `Retry-After` to 429 and 503 where none is there yet, in whole seconds: clients read no dates.
    public Exchange retryLater(int status) {
        addRetry(response.getHeaders(), status);
        return this;
    }

    /// Adds `Retry-After` where the wait is known; rounded up, because an earlier request fails again.
    public Exchange retryAfter(Duration wait) {
        long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
        response.getHeaders().put(HttpHeader.RETRY_AFTER, Long.toString(seconds));
        return this;
    }

    static void addRetry(HttpFields.Mutable headers, int status) {
        if ((status == 429 || status == 503) && !headers.contains(HttpHeader.RETRY_AFTER)) {
            headers.put(HttpHeader.RETRY_AFTER, status == 429 ? "1" : "3");
        }
    }

    /// Answers without a body; sends `Content-Length: 0` wherever a client could otherwise wait for one.
    public void send(int status) {
        send(status, ByteBuffer.allocate(0));
    }

    public void sendJson(int status, Object value) {
        send(status, "application/json", Json.write(value));
    }

    public void send(int status, String contentType, byte[] body) {
        with("Content-Type", contentType);
        send(status, ByteBuffer.wrap(body));
    }

    /// Begins an answer of unknown length. Every `flush` sends the bytes written so far, the first one with the head.
    public OutputStream stream(int status) {
        response.setStatus(status);
        return answer;
    }

    /// Begins an answer of known length.
    public OutputStream stream(int status, long length) {
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, length);
        return stream(status);
    }

    /// Whether the answer has begun, so that its status can no longer change.
    public boolean committed() {
        return response.isCommitted();
    }

    /// Resets the connection, so that the client never takes the answer for complete. Safe from any thread, also
    /// after the end of the exchange. If the client has the whole answer, the connection stays, because it may
    /// carry the next request already.
    public void abort(String reason) {
        if (!answer.sent()) {
            cut(reason);
        }
    }

    private void cut(String reason) {
        if (!end.cut(reason)) {
            return;
        }
        if (http1()) {
            connection.cut();
        } else {
            resetStream();
        }
        var failure = new ExchangeCut(reason);
        body.fail(failure);
        answer.fail(failure);
        end.clientGone();
    }

    /// Runs the action once when the exchange has ended, however it ended, or when its client has disconnected; at
    /// once if it has ended already. A client that closes its sending side counts as disconnected. The action must
    /// not block for long.
    public void onEnd(Runnable action) {
        end.add(action);
        if (body.ended()) {
            watch();
        }
    }

    /// The status of the answer, or 0 before it is set.
    public int status() {
        return response.getStatus();
    }

    /// The class of the status: `2xx`; `1xx` if the connection was upgraded, `cut` if the exchange was cut.
    public String statusClass() {
        if (takenOver) {
            return "1xx";
        }
        return end.cutBecause() != null ? "cut" : response.getStatus() / 100 + "xx";
    }

    /// Bytes of the request's body that have been read.
    public long bytesRead() {
        return Math.max(0, Request.getContentBytesRead(request));
    }

    /// Bytes of the answer's body that have been written.
    public long bytesWritten() {
        return Math.max(0, Response.getContentBytesWritten(response));
    }

    /// Jetty's own request, for the proxy.
    public Request request() {
        return request;
    }

    /// Jetty's own answer, for the proxy.
    public Response response() {
        return response;
    }

    /// Whether the exchange was cut or completed, so that nothing more can be sent.
    boolean over() {
        return !end.open();
    }

    /// The body with its buffers, which the proxy passes on without copying.
    public RequestBody requestBody() {
        return body;
    }

    /// The answer as a stream that also takes buffers.
    public AnswerStream answer() {
        return answer;
    }

    /// Whether the client speaks a version before HTTP/2.
    public boolean http1() {
        return request.getConnectionMetaData().getHttpVersion().getVersion() < HttpVersion.HTTP_2.getVersion();
    }

    void matched(String path, Map<String, String> values) {
        route = path;
        parameters = Map.copyOf(values);
    }

    /// Completes an answer that was begun, and cuts the exchange if that fails. To be called after the handler, before
    /// {@link #end}.
    ///
    /// @throws IOException if nothing was sent to the client: a missing answer is a bug of Cay
    void completeAnswer() throws IOException {
        watch.end();
        try {
            if (end.open() && !takenOver) {
                if (!answer.begun() && !committed()) {
                    throw new IOException("the handler did not answer " + method() + " " + path());
                }
                answer.close();
            }
            linger();
        } catch (IOException e) {
            if (!committed()) {
                throw e;
            }
            cut("the answer could not be completed");
        }
    }

    /// Reads on for a while so that a client which is still sending gets the answer first. On HTTP/2 the client gets it
    /// anyway, because only its stream is closed.
    private void linger() throws IOException {
        if (end.open() && !takenOver && http1() && !body.discard(LINGER, connection.unwanted())) {
            cut("the client keeps sending a body that is not read");
        }
    }

    /// Takes the connection away from HTTP/1.1: no answer is sent, the caller reads and writes the returned end point,
    /// and the exchange can only be cut afterwards. Bytes that came after the request are in `surplus`.
    public EndPoint takeOver(Consumer<ByteBuffer> surplus) {
        watch.end();
        takenOver = true;
        Connection taken = request.getConnectionMetaData().getConnection();
        if (taken instanceof Connection.UpgradeFrom http) {
            ByteBuffer more = http.onUpgradeFrom();
            if (more != null) {
                surplus.accept(more);
            }
        }
        return taken.getEndPoint();
    }

    /// Ends the exchange: its connection may carry the next request.
    void end() {
        String cut = takenOver ? "the protocol was switched" : end.cutBecause();
        if (cut == null) {
            end.complete(callback::succeeded);
        } else {
            end.complete(() -> callback.failed(new ExchangeCut(cut)));
        }
        end.runActions();
    }

    private void send(int status, ByteBuffer content) {
        response.setStatus(status);
        boolean bodiless = status == 204 || status == 304 || status < 200;
        if (!bodiless) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, content.remaining());
        }
        try {
            answer.finish(bodiless ? ByteBuffer.allocate(0) : content);
        } catch (IOException e) {
            abort("the answer could not be sent");
        }
    }

    private void watch() {
        if (end.awaited() && http1()) {
            watch.want();
        }
    }

    private void resetStream() {
        var http2 = (HTTP2Connection) request.getConnectionMetaData().getConnection();
        var stream = http2.getSession().getStream(Integer.parseInt(request.getId()));
        if (stream != null) {
            stream.reset(new ResetFrame(stream.getId(), ErrorCode.INTERNAL_ERROR.code), Callback.NOOP);
        }
    }
}
