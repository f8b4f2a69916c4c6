package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// Frames of the language between node and guest, see `guest/PROTOCOL.md`.
final class GuestBytes {
    static final int HELLO = 1;
    static final int SPAWN = 2;
    static final int ATTACH = 3;
    static final int SIGNAL = 4;
    static final int RESIZE = 5;
    static final int CLOSE_STDIN = 6;
    static final int LIST = 7;
    static final int FORGET = 8;
    static final int OK = 128;
    static final int ERROR = 129;
    static final int EXIT = 130;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    GuestBytes u8(int value) {
        out.write(value);
        return this;
    }

    GuestBytes u16(int value) {
        out.write(value);
        out.write(value >> 8);
        return this;
    }

    GuestBytes u32(int value) {
        out.writeBytes(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
        return this;
    }

    GuestBytes text(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        u32(bytes.length);
        out.writeBytes(bytes);
        return this;
    }

    GuestBytes texts(List<String> texts) {
        u32(texts.size());
        texts.forEach(this::text);
        return this;
    }

    byte[] frame(int type, int request) {
        byte[] payload = out.toByteArray();
        var frame = new GuestBytes().u32(5 + payload.length).u8(type).u32(request);
        frame.out.writeBytes(payload);
        return frame.out.toByteArray();
    }
}
