package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// One HTTP/1.1 answer, as far as it arrived.
///
/// @param head with status line, in lower case; ends with its last line
/// @param body without chunk headers
record Answer(int status, String head, byte[] body) {
    private static final Pattern STATUS = Pattern.compile("http/1\\.[01] ([1-5][0-9][0-9])[ \r\n]");
    private static final Pattern LENGTH = Pattern.compile("\r\ncontent-length: ?([0-9]{1,12})\r\n");
    private static final int MOST_HEAD = 128 << 10;

    /// Whether the bytes begin a stream that may stay open.
    static boolean isOpenStream(byte[] bytes) {
        String begin = new String(bytes, 0, Math.min(bytes.length, 4096), ISO_8859_1).toLowerCase(Locale.ROOT);
        return begin.startsWith("http/1.1 101")
                || (begin.startsWith("http/1.1 200") && begin.contains("\r\ncontent-type: application/connect+"));
    }

    /// All answers in these bytes, one after the other; other bytes begin an answer with status 0.
    static List<Answer> in(byte[] bytes) {
        var answers = new ArrayList<Answer>();
        String text = new String(bytes, ISO_8859_1);
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf("\r\n\r\n", at);
            String head = text.substring(at, end < 0 ? Math.min(text.length(), at + MOST_HEAD) : end + 2)
                    .toLowerCase(Locale.ROOT);
            var status = STATUS.matcher(head);
            if (!status.lookingAt()) {
                answers.add(new Answer(0, head, new byte[0]));
                break;
            }
            int from = end < 0 ? text.length() : end + 4;
            var body = new ByteArrayOutputStream();
            at = body(text, head, from, body);
            answers.add(new Answer(Integer.parseInt(status.group(1)), head, body.toByteArray()));
        }
        return answers;
    }

    /// Finds the start of the next answer. An answer to HEAD has a length and no body, so bytes that look like an
    /// answer are one.
    private static int body(String text, String head, int from, ByteArrayOutputStream body) {
        if (from >= text.length() || text.startsWith("HTTP/1.", from)) {
            return from;
        }
        if (head.contains("\r\ntransfer-encoding: chunked")) {
            return chunks(text, from, body);
        }
        var length = LENGTH.matcher(head);
        long size = length.find() ? Long.parseLong(length.group(1)) : Integer.MAX_VALUE;
        int to = (int) Math.min(text.length(), from + size);
        body.writeBytes(text.substring(from, to).getBytes(ISO_8859_1));
        return to;
    }

    private static int chunks(String text, int from, ByteArrayOutputStream body) {
        int at = from;
        while (true) {
            int line = text.indexOf("\r\n", at);
            if (line < 0) {
                return text.length();
            }
            int size;
            try {
                size = Integer.parseInt(text.substring(at, line).strip(), 16);
            } catch (NumberFormatException e) {
                return text.length();
            }
            int to = (int) Math.min(text.length(), line + 2L + size);
            body.writeBytes(text.substring(line + 2, to).getBytes(ISO_8859_1));
            at = Math.min(text.length(), to + 2);
            if (size == 0 || at >= text.length()) {
                return at;
            }
        }
    }

    boolean isStream() {
        return head.contains("\r\ncontent-type: application/connect+");
    }

    /// Whether a server inside the sandbox answered, and not Cay.
    boolean isFromInside() {
        return head.contains("\r\nserver: simplehttp");
    }
}
