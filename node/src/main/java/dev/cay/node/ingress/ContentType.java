package dev.cay.node.ingress;

import java.net.URLConnection;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The media type of a file: by the extension of its name, else by its first bytes.
final class ContentType {
    /// How many of the first bytes are read.
    static final int SAMPLE = 512;

    private static final String UNKNOWN = "application/octet-stream";

    /// Types that the JDK's table lacks, or has in an older form.
    private static final Map<String, String> BY_EXTENSION = Map.ofEntries(
            Map.entry("avif", "image/avif"),
            Map.entry("css", "text/css"),
            Map.entry("csv", "text/csv"),
            Map.entry("js", "text/javascript"),
            Map.entry("json", "application/json"),
            Map.entry("md", "text/markdown"),
            Map.entry("mjs", "text/javascript"),
            Map.entry("mp4", "video/mp4"),
            Map.entry("svg", "image/svg+xml"),
            Map.entry("tar", "application/x-tar"),
            Map.entry("wasm", "application/wasm"),
            Map.entry("webp", "image/webp"),
            Map.entry("xml", "text/xml"));

    private record Magic(String type, byte[] bytes) {}

    private static final List<Magic> MAGIC = List.of(
            magic("application/pdf", '%', 'P', 'D', 'F', '-'),
            magic("image/png", 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'),
            magic("image/jpeg", 0xff, 0xd8, 0xff),
            magic("image/gif", 'G', 'I', 'F', '8'),
            magic("image/bmp", 'B', 'M'),
            magic("application/zip", 'P', 'K', 3, 4),
            magic("application/x-gzip", 0x1f, 0x8b, 8),
            magic("application/wasm", 0, 'a', 's', 'm'));

    private ContentType() {}

    private static Magic magic(String type, int... bytes) {
        byte[] begin = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            begin[i] = (byte) bytes[i];
        }
        return new Magic(type, begin);
    }

    /// Empty if the name tells nothing.
    static String ofName(String name) {
        String extension = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        String known = name.indexOf('.') < 0 ? null : BY_EXTENSION.get(extension);
        String type = known != null ? known : URLConnection.guessContentTypeFromName(name.replace("#", "_"));
        if (type == null) {
            return "";
        }
        return type.startsWith("text/") ? type + "; charset=utf-8" : type;
    }

    /// @param begin the first bytes of the file
    static String ofBytes(byte[] begin) {
        for (var magic : MAGIC) {
            if (begin.length >= magic.bytes.length
                    && Arrays.equals(begin, 0, magic.bytes.length, magic.bytes, 0, magic.bytes.length)) {
                return magic.type;
            }
        }
        for (byte b : begin) {
            boolean control = b >= 0 && b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b;
            if (control) {
                return UNKNOWN;
            }
        }
        return "text/plain; charset=utf-8";
    }
}
