package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A JSON body of up to 16 MiB. The large bodies of all clients share a memory limit: others wait until this one is
/// closed. Closing it more than once is allowed.
public final class LargeJson<T> implements AutoCloseable {
    private final @Nullable T value;
    private final LargeMessages.Room room;

    private LargeJson(@Nullable T value, LargeMessages.Room room) {
        this.value = value;
        this.room = room;
    }

    /// An empty body is read as `null`. Bad JSON is the client's error.
    public static <T> LargeJson<T> read(Exchange exchange, Class<T> type) {
        var room = exchange.room();
        try {
            byte[] bytes = room.read(exchange.body());
            return new LargeJson<>(bytes.length == 0 ? null : Json.read(bytes, type), room);
        } catch (IOException e) {
            room.close();
            throw new CayException(ErrorKind.CANCELED, "the request ended before its body did", e);
        } catch (RuntimeException e) {
            room.close();
            throw e;
        }
    }

    public @Nullable T value() {
        return value;
    }

    @Override
    public void close() {
        room.close();
    }
}
