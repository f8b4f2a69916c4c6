package dev.cay.proxy;

import dev.cay.http.ClientGone;
import dev.cay.http.Exchange;
import dev.cay.http.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The part of a body that was read before its request is sent, because a rule changes it.
///
/// @param whole false if the body is larger than rules may change: the bytes are then unchanged, and the rest follows
record ReadBody(byte[] bytes, boolean whole) {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration FOREVER = Duration.ofDays(36_500);

    /// Reads the body if a rule changes it. A compressed one, one that is too large and messages of gRPC pass as they
    /// are.
    static @Nullable ReadBody of(Exchange exchange, boolean grpc, BodyRoom room) throws IOException {
        var filled = LastHop.filledBody(exchange);
        String encoding = exchange.header("Content-Encoding");
        boolean plain = encoding == null || encoding.strip().equalsIgnoreCase("identity");
        if (filled == null || grpc || !plain || exchange.request().getLength() > BodyRoom.MOST_BYTES) {
            return null;
        }
        room.take(exchange, filled.sandbox());
        var body = read(exchange);
        return body.whole() ? new ReadBody(filled.change().change(body.bytes()), true) : body;
    }

    private static ReadBody read(Exchange exchange) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        exchange.body(LIMIT);
        RequestBody body = exchange.requestBody();
        var read = new ByteArrayOutputStream();
        boolean more = true;
        while (more && read.size() <= BodyRoom.MOST_BYTES) {
            ByteBuffer piece = body.next();
            more = piece != null;
            if (piece != null) {
                byte[] bytes = new byte[piece.remaining()];
                piece.get(bytes);
                body.release();
                read.writeBytes(bytes);
            }
            if (System.nanoTime() > end) {
                throw new CayException(
                        ErrorKind.DEADLINE_EXCEEDED, "the body was not sent within %d s".formatted(LIMIT.toSeconds()));
            }
        }
        exchange.body(FOREVER);
        long announced = exchange.request().getLength();
        if (announced >= 0 && (more || announced != read.size())) {
            throw new ClientGone("the body is not as long as announced");
        }
        return new ReadBody(read.toByteArray(), !more);
    }
}
