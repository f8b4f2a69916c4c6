package dev.cay.connect;

import com.google.protobuf.Message;
import dev.cay.http.Exchange;
import dev.cay.http.Json;
import dev.cay.http.LargeMessages;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/// The frames of a streaming call: a flag byte, a length of four bytes, a message. Each sent frame is on the wire when
/// its method returns.
final class ConnectStream {
    private static final int COMPRESSED = 0x01;
    private static final int END = 0x02;
    private static final byte[] NOTHING = {'{', '}'};

    private final Exchange exchange;
    private final ConnectCodec codec;
    private final DataInputStream in;
    private final @Nullable String compression;
    private @Nullable OutputStream out;

    ConnectStream(Exchange exchange, ConnectCodec codec) {
        this.exchange = exchange;
        this.codec = codec;
        this.in = new DataInputStream(exchange.body());
        this.compression = exchange.header("Connect-Content-Encoding");
    }

    /// The next message, or null when the client has sent all of them.
    <M extends Message> @Nullable M receive(M prototype) throws IOException {
        if (compression != null && !compression.equalsIgnoreCase("gzip") && !compression.equals("identity")) {
            throw ConnectCodec.unknown(compression);
        }
        int flags = in.read();
        if (flags < 0 || (flags & END) != 0) {
            return null;
        }
        try {
            int length = in.readInt();
            if (length < 0 || length > LargeMessages.MOST_BYTES) {
                throw new CayException(ErrorKind.EXHAUSTED, LargeMessages.TOO_LARGE);
            }
            try (var room = exchange.room()) {
                room.need(length);
                byte[] bytes = in.readNBytes(length);
                if (bytes.length < length) {
                    throw new EOFException();
                }
                return codec.read(prototype, (flags & COMPRESSED) == 0 ? bytes : unzip(bytes, room));
            }
        } catch (EOFException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the message ends before its announced length", e);
        }
    }

    /// The client's messages as they come.
    <M extends Message> Iterator<M> incoming(M prototype) {
        return new Iterator<>() {
            private @Nullable M next;
            private boolean ended;

            @Override
            public boolean hasNext() {
                if (next == null && !ended) {
                    try {
                        next = receive(prototype);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    ended = next == null;
                }
                return next != null;
            }

            @Override
            public M next() {
                if (!hasNext() || next == null) {
                    throw new NoSuchElementException();
                }
                M message = next;
                next = null;
                return message;
            }
        };
    }

    /// The sink for answers.
    <A extends Message> Sink<A> sink() {
        return new Sink<>() {
            @Override
            public void send(A message, Runnable leaving) throws IOException {
                byte[] bytes = codec.write(message);
                synchronized (ConnectStream.this) {
                    leaving.run();
                    write(0, bytes).flush();
                }
            }

            @Override
            public void sendLast(A message) throws IOException {
                write(0, codec.write(message));
            }
        };
    }

    /// The last frame; `error` is null when all went well.
    void end(@Nullable ConnectError error) throws IOException {
        write(END, error == null ? NOTHING : Json.write(Map.of("error", error))).close();
    }

    private synchronized OutputStream write(int flags, byte[] bytes) throws IOException {
        if (out == null) {
            exchange.with("Content-Type", codec.contentType(true));
            out = exchange.stream(200);
        }
        // In one piece, so that small messages leave in one packet.
        var frame = ByteBuffer.allocate(5 + bytes.length)
                .put((byte) flags)
                .putInt(bytes.length)
                .put(bytes);
        out.write(frame.array());
        return out;
    }

    private byte[] unzip(byte[] bytes, LargeMessages.Room room) throws IOException {
        if (compression == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "a compressed message without Connect-Content-Encoding");
        }
        return ConnectCodec.unzip(bytes, room);
    }
}
