package dev.cay.http;

import com.google.protobuf.Message;
import java.io.IOException;
import java.time.Duration;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/// Serves Connect RPC: unary, server-streaming and client-streaming calls, as JSON and as protobuf.
///
/// Failures of a call become Connect errors: in the body for unary calls, in the last frame for streams.
/// `Connect-Timeout-Ms` is enforced here for streams: the call's thread is interrupted and the client reads
/// `deadline_exceeded`.
public final class ConnectRoutes implements Handler {
    /// What a call may know about its request.
    public interface Call {
        Exchange exchange();

        /// How long the client wants to wait at most, or null for ever.
        @Nullable
        Duration timeout();
    }

    /// Where a streaming call puts its answers; each one is on the wire when `send` returns.
    public interface Sink<A extends Message> {
        void send(A message) throws IOException;
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

    /// `path` like `/process.Process/List`; `prototype` is the request's default instance.
    public <Q extends Message, A extends Message> ConnectRoutes unary(String path, Q prototype, Unary<Q, A> call) {
        throw new UnsupportedOperationException();
    }

    public <Q extends Message, A extends Message> ConnectRoutes serverStream(
            String path, Q prototype, ServerStream<Q, A> call) {
        throw new UnsupportedOperationException();
    }

    public <Q extends Message, A extends Message> ConnectRoutes clientStream(
            String path, Q prototype, ClientStream<Q, A> call) {
        throw new UnsupportedOperationException();
    }

    public boolean knows(String path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        throw new UnsupportedOperationException();
    }
}
