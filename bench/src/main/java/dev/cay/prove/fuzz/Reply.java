package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.util.regex.Pattern;

/// What came back on one connection.
record Reply(byte[] bytes, End end) {
    enum End {
        CLOSED,
        RESET,
        /// We went away: on purpose, or from a stream that would have gone on.
        LEFT,
        HUNG
    }

    private static final Pattern IDS = Pattern.compile("[0-9a-f]{8}-[0-9a-f-]{27}");
    private static final Pattern BAD_CODE = Pattern.compile("\"code\":\\s?\"(internal|unknown|data_loss)\"");
    private static final int SHOWN = 240;
    private static final byte STATUS_500 = (byte) 0x8e;

    Played judge(Input input) {
        return new Played(outcome(input), wrong(input), input.bytes(), bytes);
    }

    private String outcome(Input input) {
        if (input.http2() || bytes.length == 0) {
            return (input.http2() ? "h2 " : "") + end.name().toLowerCase(java.util.Locale.ROOT);
        }
        return Integer.toString(Answer.in(bytes).getFirst().status());
    }

    private String wrong(Input input) {
        if (end == End.HUNG) {
            return "neither answered nor closed within %d s (%d bytes heard)"
                    .formatted(Wire.LIMIT.toSeconds(), bytes.length);
        }
        return input.http2() ? wrongFrames() : wrongAnswers();
    }

    private String wrongAnswers() {
        for (var answer : Answer.in(bytes)) {
            if (answer.status() == 0) {
                return "answered with what is not HTTP: " + shown(answer.head());
            }
            if (answer.status() == 500 && !answer.isFromInside()) {
                return "answered 500: " + shown(new String(answer.body(), ISO_8859_1));
            }
            String last = answer.isStream() ? lastFrame(answer.body()) : "";
            if (BAD_CODE.matcher(last).find()) {
                return "ended a stream with: " + shown(last);
            }
        }
        return "";
    }

    /// The message that ends a stream of Connect, empty if it did not come.
    private static String lastFrame(byte[] body) {
        var frames = ByteBuffer.wrap(body);
        while (frames.remaining() >= 5) {
            boolean last = (frames.get() & 2) != 0;
            int length = frames.getInt();
            if (length < 0 || length > frames.remaining()) {
                return "";
            }
            if (last) {
                return new String(body, frames.position(), length, ISO_8859_1);
            }
            frames.position(frames.position() + length);
        }
        return "";
    }

    /// A head whose first field is that of HPACK's own table for `:status 500`.
    private String wrongFrames() {
        var frames = ByteBuffer.wrap(bytes);
        while (frames.remaining() >= 9) {
            int length = (frames.getShort() & 0xffff) << 8 | frames.get() & 0xff;
            byte type = frames.get();
            byte flags = frames.get();
            frames.getInt();
            if (length > frames.remaining()) {
                return "";
            }
            int at = frames.position() + ((flags & 0x20) != 0 ? 5 : 0);
            if (type == 1 && length > 0 && at < bytes.length && bytes[at] == STATUS_500) {
                return "answered 500 on HTTP/2";
            }
            frames.position(frames.position() + length);
        }
        return "";
    }

    private static String shown(String text) {
        String plain = IDS.matcher(text).replaceAll("ID").replaceAll("[^ -~]", ".");
        return plain.length() > SHOWN ? plain.substring(0, SHOWN) : plain;
    }
}
