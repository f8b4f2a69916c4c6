package dev.cay.connect;

import com.google.protobuf.Message;
import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.LargeMessages;
import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.metrics.Timing;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/// Serves Connect RPC: unary, server-streaming and client-streaming calls, as JSON and as protobuf.
///
/// Failures of a call become Connect errors: in the body for unary calls, in the last frame for streams.
/// `Connect-Timeout-Ms` is enforced here: the call's thread is interrupted and the client reads `deadline_exceeded`. It
/// is interrupted as well when the client of a stream goes away.
public final class ConnectRoutes implements Handler {
    private static final String TIMEOUT = "Connect-Timeout-Ms";
    private static final String VERSION = "Connect-Protocol-Version";
    private static final String OK = "ok";

    private final Map<String, Route> routes = new HashMap<>();
    private final Tally calls;
    private final Timing times;

    public ConnectRoutes(Meters meters) {
        calls = meters.tally("cay_rpc_total", "Calls to sandboxes, by how they ended", "method", "code");
        times = meters.timing("cay_rpc_seconds", "How long calls took; streams as long as they were open", "method");
    }

    /// The context of a call: its exchange and its deadline.
    public interface Call {
        Exchange exchange();

        /// How long the client waits at most, or null without a limit.
        @Nullable
        Duration timeout();

        /// Reserves memory before an answer grows large: takes that much of the memory that all large messages share,
        /// until the end of the call, or fails the call when the memory is in use. Any thread may call it.
        void demandMemory(long bytes);
    }

    public interface Unary<Q extends Message, A extends Message> {
        A call(Call call, Q request) throws Exception;
    }

    public interface ServerStream<Q extends Message, A extends Message> {
        void call(Call call, Q request, Sink<A> answers) throws Exception;
    }

    public interface ClientStream<Q extends Message, A extends Message> {
        A call(Call call, Iterator<Q> requests) throws Exception;
    }

    private record RunningCall(Exchange exchange, @Nullable Duration timeout, LargeMessages.Room room) implements Call {
        @Override
        public void demandMemory(long bytes) {
            room.demand(bytes);
        }
    }

    /// A call that has been told apart from others by its path, and from other forms by its codec.
    private interface Answer {
        /// @return the code of the error it answered with, or {@link #OK}
        String answer(Exchange exchange, ConnectCodec codec) throws Exception;
    }

    private interface StreamBody {
        void run(Call call, ConnectStream stream) throws Exception;
    }

    private record Route(boolean stream, Answer answer) {}

    /// `path` like `/process.Process/List`; `prototype` is the request's default instance.
    public <Q extends Message, A extends Message> ConnectRoutes unary(String path, Q prototype, Unary<Q, A> call) {
        return add(path, new Route(false, (exchange, codec) -> {
            try (var room = exchange.room()) {
                checkVersion(exchange);
                Duration limit = timeout(exchange);
                Q request = codec.read(prototype, unaryBody(exchange, room));
                A answer = inTime(exchange, limit, () -> call.call(new RunningCall(exchange, limit, room), request));
                exchange.send(200, codec.contentType(false), codec.write(answer));
            }
            return OK;
        }));
    }

    public <Q extends Message, A extends Message> ConnectRoutes serverStream(
            String path, Q prototype, ServerStream<Q, A> call) {
        return add(path, streaming((running, stream) -> {
            Q request = stream.receive(prototype);
            if (request == null) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "the request has no message");
            }
            call.call(running, request, stream.sink());
        }));
    }

    public <Q extends Message, A extends Message> ConnectRoutes clientStream(
            String path, Q prototype, ClientStream<Q, A> call) {
        return add(
                path,
                streaming((running, stream) -> stream.sink().sendLast(call.call(running, stream.incoming(prototype)))));
    }

    public boolean knows(String path) {
        return routes.containsKey(path);
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        Route route = routes.get(exchange.path());
        if (route == null) {
            exchange.sendJson(404, new ConnectError("unimplemented", "no such call: " + exchange.path()));
            return;
        }
        if (!exchange.method().equals("POST")) {
            exchange.with("Allow", "POST").send(405);
            return;
        }
        ConnectCodec codec = ConnectCodec.of(exchange.header("Content-Type"), route.stream);
        if (codec == null) {
            exchange.with(
                            "Accept-Post",
                            ConnectCodec.JSON.contentType(route.stream) + ", "
                                    + ConnectCodec.PROTO.contentType(route.stream))
                    .send(415);
            return;
        }
        String method = exchange.path().substring(1);
        String code = "internal";
        long began = System.nanoTime();
        try {
            code = route.answer.answer(exchange, codec);
        } catch (Exception e) {
            if (exchange.committed()) {
                throw e;
            }
            ConnectError error = ConnectError.of(e);
            code = error.code();
            exchange.retryLater(error.status()).sendJson(error.status(), error);
        } finally {
            calls.count(method, code);
            times.since(began, method);
        }
    }

    /// Refuses an unknown version of the protocol. Clients may omit the header.
    private static void checkVersion(Exchange exchange) {
        String version = exchange.header(VERSION);
        if (version != null && !version.equals("1")) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, VERSION + " must be 1");
        }
    }

    private ConnectRoutes add(String path, Route route) {
        if (routes.put(path, route) != null) {
            throw new IllegalArgumentException("two calls at " + path);
        }
        return this;
    }

    private static Route streaming(StreamBody body) {
        return new Route(true, (exchange, codec) -> runStream(exchange, new ConnectStream(exchange, codec), body));
    }

    private static String runStream(Exchange exchange, ConnectStream stream, StreamBody body) throws IOException {
        ConnectError error = null;
        try {
            checkVersion(exchange);
            Duration timeout = timeout(exchange);
            var watch = new CallWatch(exchange, timeout);
            try (watch;
                    var room = exchange.room()) {
                body.run(new RunningCall(exchange, timeout, room), stream);
            } catch (Exception e) {
                if (watch.alone() || e instanceof ClientGone) {
                    exchange.abort("the client disconnected");
                    return ConnectError.code(ErrorKind.CANCELED);
                }
                error = watch.late() ? ConnectError.DEADLINE : ConnectError.of(unwrapped(e));
            }
            if (watch.late()) {
                error = ConnectError.DEADLINE;
            }
        } catch (CayException e) {
            error = ConnectError.of(e);
        }
        stream.end(error);
        return error == null ? OK : error.code();
    }

    /// An iterator cannot throw what a stream does, so it came wrapped.
    private static Throwable unwrapped(Exception e) {
        Throwable cause = e.getCause();
        return e instanceof java.io.UncheckedIOException && cause != null ? cause : e;
    }

    private static <A> A inTime(Exchange exchange, @Nullable Duration limit, Callable<A> call) throws Exception {
        if (limit == null) {
            return call.call();
        }
        var watch = new CallWatch(exchange, limit);
        try (watch) {
            return call.call();
        } catch (Exception e) {
            if (watch.late()) {
                throw new CayException(ErrorKind.DEADLINE_EXCEEDED, ConnectError.DEADLINE.message(), e);
            }
            if (watch.alone()) {
                throw new ClientGone("the client disconnected", e);
            }
            throw e;
        }
    }

    private static byte[] unaryBody(Exchange exchange, LargeMessages.Room room) throws IOException {
        String length = exchange.header("Content-Length");
        if (length != null && length.matches("[0-9]{8,18}") && Long.parseLong(length) > LargeMessages.MOST_BYTES) {
            throw new CayException(ErrorKind.EXHAUSTED, LargeMessages.TOO_LARGE);
        }
        byte[] bytes = room.read(exchange.body());
        String encoding = exchange.header("Content-Encoding");
        if (encoding == null || encoding.equalsIgnoreCase("identity")) {
            return bytes;
        }
        if (encoding.equalsIgnoreCase("gzip")) {
            return ConnectCodec.unzip(bytes, room);
        }
        throw ConnectCodec.unknown(encoding);
    }

    private static @Nullable Duration timeout(Exchange exchange) {
        String text = exchange.header(TIMEOUT);
        if (text == null || text.equals("0")) {
            return null;
        }
        if (!text.matches("[0-9]{1,10}")) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, TIMEOUT + " must be up to ten digits");
        }
        return Duration.ofMillis(Long.parseLong(text));
    }
}
