package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.List;

/// A client's side of an HTTP/2 connection, with mistakes in it.
final class Http2Frames {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int PRIORITY = 2;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int PUSH = 5;
    private static final int PING = 6;
    private static final int GO_AWAY = 7;
    private static final int WINDOW = 8;
    private static final int CONTINUATION = 9;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int PADDED = 8;
    private static final int WITH_PRIORITY = 0x20;

    private static final Mutator MUTATOR =
            Mutator.of(":path", ":method", ":authority", "host", "te", "\u0000", "\u0080");

    private final Dice dice;
    private final String sandbox;
    private final String token;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Http2Frames(Dice dice, String sandbox, String token) {
        this.dice = dice;
        this.sandbox = sandbox;
        this.token = token;
    }

    byte[] bytes() {
        out.writeBytes(dice.oneIn(20) ? MUTATOR.mutate(dice, PREFACE) : PREFACE);
        frame(SETTINGS, 0, 0, settings());
        int stream = 1;
        for (int i = dice.between(1, 8); i > 0; i--) {
            any(stream);
            if (dice.oneIn(2)) {
                stream += 2;
            }
        }
        byte[] all = out.toByteArray();
        return dice.oneIn(3) ? MUTATOR.mutate(dice, all) : all;
    }

    private void any(int stream) {
        switch (dice.below(14)) {
            case 0, 1, 2, 3, 4 -> request(stream);
            case 5, 6 -> frame(DATA, dice.below(16), stream, dice.bytes(dice.size(20_000)));
            case 7 -> frame(RESET, 0, dice.oneIn(4) ? 0 : stream, dice.bytes(dice.oneIn(5) ? 3 : 4));
            case 8 -> frame(WINDOW, 0, dice.oneIn(2) ? 0 : stream, number(dice.pick(0, 1, 65535, 0x7fffffff, -1)));
            case 9 -> frame(PING, dice.below(2), 0, dice.bytes(dice.oneIn(5) ? 7 : 8));
            case 10 -> frame(SETTINGS, dice.below(2), 0, settings());
            case 11 -> frame(CONTINUATION, END_HEADERS, stream, fields());
            case 12 ->
                frame(dice.pick(PRIORITY, PUSH, GO_AWAY, 10, 200), dice.below(256), stream, dice.bytes(dice.size(40)));
            default -> out.writeBytes(dice.bytes(dice.size(200)));
        }
    }

    private void request(int stream) {
        byte[] fields = fields();
        int flags = END_HEADERS | (dice.oneIn(3) ? 0 : END_STREAM);
        if (dice.oneIn(6)) {
            int cut = dice.below(fields.length + 1);
            frame(HEADERS, flags & ~END_HEADERS, stream, java.util.Arrays.copyOf(fields, cut));
            frame(CONTINUATION, END_HEADERS, stream, java.util.Arrays.copyOfRange(fields, cut, fields.length));
        } else {
            frame(HEADERS, flags | dice.pick(0, 0, 0, PADDED, WITH_PRIORITY), stream, fields);
        }
    }

    private byte[] fields() {
        var block = new ByteArrayOutputStream();
        field(block, ":method", dice.pick("GET", "POST", "OPTIONS", "CONNECT", "", "G T"));
        field(block, ":scheme", dice.pick("http", "https", ""));
        field(
                block,
                ":path",
                dice.pick("/health", "/process.Process/List", "/files?path=/etc/hostname", "", "*", "/%zz"));
        field(
                block,
                ":authority",
                dice.pick("localhost", "49983-" + sandbox + ".cay.localhost", "8000-" + sandbox + ".x", ""));
        field(block, "x-access-token", token);
        for (int i = dice.size(4); i > 0; i--) {
            var odd = dice.pick(List.of(
                    List.of("content-type", "application/json"),
                    List.of("e2b-sandbox-id", sandbox),
                    List.of("e2b-sandbox-port", "49983"),
                    List.of("connection", "close"),
                    List.of("te", "gzip"),
                    List.of("Upper", "case"),
                    List.of(":late", "x"),
                    List.of("content-length", "7"),
                    List.of("", ""),
                    List.of("long", "v".repeat(dice.size(70_000))),
                    List.of("cookie", "a\r\nb: c")));
            field(block, odd.getFirst(), odd.getLast());
        }
        if (dice.oneIn(6)) {
            // Indices into tables that do not go so far, and new sizes for them.
            block.writeBytes(dice.bytes(dice.size(12)));
        }
        return block.toByteArray();
    }

    /// In HPACK's plainest form: literal, never indexed, no Huffman.
    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0x10);
        text(block, name);
        text(block, value);
    }

    private static void text(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        if (bytes.length < 127) {
            block.write(bytes.length);
        } else {
            block.write(127);
            int rest = bytes.length - 127;
            for (; rest >= 128; rest >>= 7) {
                block.write((rest & 127) | 128);
            }
            block.write(rest);
        }
        block.writeBytes(bytes);
    }

    private byte[] settings() {
        var all = new ByteArrayOutputStream();
        for (int i = dice.size(5); i > 0; i--) {
            int id = dice.below(10);
            all.writeBytes(new byte[] {0, (byte) id});
            all.writeBytes(number(dice.pick(0, 1, 100, 16384, 65536, 0x7fffffff, -1)));
        }
        return all.toByteArray();
    }

    private void frame(int type, int flags, int stream, byte[] payload) {
        int length = dice.oneIn(30) ? dice.size(1 << 24) : payload.length;
        out.writeBytes(
                new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length, (byte) type, (byte) flags});
        out.writeBytes(number(dice.oneIn(30) ? (int) dice.number() : stream));
        out.writeBytes(payload);
    }

    private static byte[] number(int value) {
        return new byte[] {(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value};
    }
}
