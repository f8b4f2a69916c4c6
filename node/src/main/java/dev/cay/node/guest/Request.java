package dev.cay.node.guest;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// A frame on its way to the guest.
final class Request {
    static final int HELLO = 1;
    static final int SPAWN = 2;
    static final int ATTACH = 3;
    static final int SIGNAL = 4;
    static final int RESIZE = 5;
    static final int CLOSE_STDIN = 6;
    static final int LIST = 7;
    static final int FORGET = 8;
    static final int SIGNAL_GROUP = 9;

    private static final int MAX_LENGTH = 4 << 20;

    private final int type;
    private final ByteArrayOutputStream payload = new ByteArrayOutputStream();

    Request(int type) {
        this.type = type;
    }

    static Request spawn(Spawn spawn) {
        var request = new Request(SPAWN)
                .u32((spawn.terminal() ? 1 : 0) | (spawn.stdin() && !spawn.terminal() ? 2 : 0))
                .u16(spawn.columns())
                .u16(spawn.rows())
                .u32(spawn.uid())
                .u32(spawn.gid())
                .u32(spawn.groups().size());
        spawn.groups().forEach(request::u32);
        return request.string(spawn.cwd())
                .strings(spawn.command())
                .strings(spawn.environment())
                .string(spawn.tag());
    }

    Request u16(int value) {
        payload.write(value);
        payload.write(value >> 8);
        return this;
    }

    Request u32(int value) {
        return u16(value).u16(value >> 16);
    }

    Request string(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "a command, variable or path must not contain NUL");
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        u32(bytes.length);
        payload.writeBytes(bytes);
        return this;
    }

    private Request strings(List<String> texts) {
        u32(texts.size());
        texts.forEach(this::string);
        return this;
    }

    byte[] frame(int number) {
        int length = 5 + payload.size();
        if (length > MAX_LENGTH) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "command and environment are larger than 4 MiB");
        }
        return ByteBuffer.allocate(4 + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .put((byte) type)
                .putInt(number)
                .put(payload.toByteArray())
                .array();
    }
}
