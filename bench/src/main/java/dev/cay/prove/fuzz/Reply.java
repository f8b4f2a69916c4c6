package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/// The bytes that came back on one connection.
record Reply(byte[] bytes, End end) {
    enum End {
        CLOSED,
        RESET,
        /// The client disconnected: on purpose, or from a stream that would have continued.
        LEFT,
        HUNG
    }

    /// Time limit of an answer. Generous, because the machine may be busy.
    static final Duration LIMIT = Duration.ofSeconds(30);

    private static final Pattern IDS = Pattern.compile("[0-9a-f]{8}-[0-9a-f-]{27}");
    private static final String OUR_FAULT = "(error id ";
    private static final int SHOWN = 240;
    private static final int FRAME_HEAD = 9;
    private static final byte GO_AWAY = 7;
    private static final byte STATUS_500 = (byte) 0x8e;

    Played judge(Input input) {
        return new Played(outcome(input), wrong(input), input.bytes(), bytes);
    }

    private String outcome(Input input) {
        String how = end.name().toLowerCase(Locale.ROOT);
        if (input.speech() == Input.Speech.HTTP2) {
            return "h2 " + (bytes.length > 0 && bytes[0] == 'H' ? "refused" : how);
        }
        if (input.speech() == Input.Speech.ANY || bytes.length == 0) {
            return how;
        }
        return Integer.toString(Answer.in(bytes).getFirst().status());
    }

    private String wrong(Input input) {
        if (end == End.HUNG) {
            return "neither answered nor closed within %d s (%d bytes heard)"
                    .formatted(LIMIT.toSeconds(), bytes.length);
        }
        return switch (input.speech()) {
            case HTTP1 -> wrongAnswers();
            // What does not begin as HTTP/2 does is answered in the older way.
            case HTTP2 -> bytes.length > 0 && bytes[0] == 'H' ? wrongAnswers() : wrongFrames();
            case ANY -> "";
        };
    }

    private String wrongAnswers() {
        for (var answer : Answer.in(bytes)) {
            if (answer.status() == 0) {
                return "answered with what is not HTTP: " + shown(answer.head());
            }
            String body = new String(answer.body(), ISO_8859_1);
            if (answer.status() == 500 && !answer.isFromInside() && !isToldByTheContract(body)) {
                return "answered 500: " + shown(body);
            }
            String last = answer.isStream() ? lastFrame(answer.body()) : "";
            if (last.contains(OUR_FAULT)) {
                return "ended a stream with: " + shown(last);
            }
        }
        return "";
    }

    /// Clients expect 500 and `internal` where a sandbox's own state does not allow what they ask for, and read
    /// why. What is our fault has an id, by which it is found in the log.
    private static boolean isToldByTheContract(String body) {
        // One to HEAD has none; then only the log knows.
        return body.isEmpty()
                || (body.startsWith("{\"code\":") && body.contains("\"message\":\"") && !body.contains(OUR_FAULT));
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

    /// Whether the other side has said good-bye in the manner of HTTP/2; it may wait then until we close.
    static boolean endsWithFarewell(byte[] bytes) {
        var frames = ByteBuffer.wrap(bytes);
        while (frames.remaining() >= FRAME_HEAD) {
            int length = frames.getInt(frames.position()) >>> 8;
            if (frames.get(frames.position() + 3) == GO_AWAY) {
                return true;
            }
            if (length > frames.remaining() - FRAME_HEAD) {
                return false;
            }
            frames.position(frames.position() + FRAME_HEAD + length);
        }
        return false;
    }

    /// A head whose first field is that of HPACK's own table for `:status 500`.
    private String wrongFrames() {
        var frames = ByteBuffer.wrap(bytes);
        while (frames.remaining() >= FRAME_HEAD) {
            int length = ((frames.getShort() & 0xffff) << 8) | (frames.get() & 0xff);
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
