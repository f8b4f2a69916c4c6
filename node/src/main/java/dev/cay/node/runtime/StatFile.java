package dev.cay.node.runtime;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/// A small file of the kernel, read at once: a number, or lines like `name value`.
///
/// Looked through as bytes: with a thousand sandboxes there are thousands of these every few seconds.
final class StatFile {
    private static final int USUAL = 4096;

    private final byte[] bytes;
    private final int length;

    private StatFile(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
    }

    static StatFile read(Path path) throws IOException {
        byte[] bytes = new byte[USUAL];
        int length = 0;
        try (var file = new FileInputStream(path.toString())) {
            int count;
            while ((count = file.read(bytes, length, bytes.length - length)) > 0) {
                length += count;
                if (length == bytes.length) {
                    bytes = Arrays.copyOf(bytes, 2 * length);
                }
            }
        }
        return new StatFile(bytes, length);
    }

    /// The whole file as one number.
    long number() {
        return parse(0);
    }

    /// The value of the line with this name; 0 if there is none, as not every kernel has every line.
    long value(String name) {
        byte[] wanted = name.getBytes(StandardCharsets.US_ASCII);
        int line = 0;
        while (line < length) {
            int after = line + wanted.length;
            if (after < length && bytes[after] == ' ' && Arrays.equals(bytes, line, after, wanted, 0, wanted.length)) {
                return parse(after + 1);
            }
            while (line < length && bytes[line] != '\n') {
                line++;
            }
            line++;
        }
        return 0;
    }

    private long parse(int from) {
        int end = from;
        while (end < length && bytes[end] != '\n') {
            end++;
        }
        return Long.parseLong(new String(bytes, from, end - from, StandardCharsets.US_ASCII).strip());
    }
}
