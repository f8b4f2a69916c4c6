package dev.cay.node.linux;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Converts file names. The kernel's names are bytes, not always UTF-8. Invalid bytes become lone surrogates, so that
/// every file can be named and found again.
public final class FileName {
    private static final char REPLACEMENT = '\ufffd';
    private static final char LOWEST = '\udc80';
    private static final char HIGHEST = '\udcff';

    private FileName() {}

    public static String text(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.indexOf(REPLACEMENT) < 0 ? text : escaped(bytes);
    }

    private static String escaped(byte[] bytes) {
        var decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        var in = ByteBuffer.wrap(bytes);
        var out = CharBuffer.allocate(bytes.length);
        for (var result = decoder.decode(in, out, true); result.isError(); result = decoder.decode(in, out, true)) {
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (LOWEST - 0x80 + Byte.toUnsignedInt(in.get())));
            }
        }
        return out.flip().toString();
    }

    public static byte[] bytes(String text) {
        if (!isEscaped(text)) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        var out = new ByteArrayOutputStream();
        text.codePoints().forEach(c -> {
            if (c >= LOWEST && c <= HIGHEST) {
                out.write(c - LOWEST + 0x80);
            } else {
                out.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
            }
        });
        return out.toByteArray();
    }

    private static boolean isEscaped(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= LOWEST && text.charAt(i) <= HIGHEST) {
                return true;
            }
        }
        return false;
    }
}
