package dev.cay.proxy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Strikes values out of an answer while it passes: each byte of a value becomes `*`, so that lengths stay as they are.
/// It finds a value as it was sent, also in pieces, and where values overlap. A server that sends it in another form is
/// not stopped by this.
final class Scrub {
    /// A shorter value is part of too much that is none.
    private static final int LEAST = 6;

    static final byte STAR = '*';

    private final List<byte[]> values;

    /// Whether a value begins with a byte, which few bytes of an answer do.
    private final boolean[] begins = new boolean[256];

    private @Nullable Scrub inSmallLetters;

    /// The end of what has come, as far as a value may begin there, and what of it is part of a value that has ended.
    private byte[] held = {};

    private BitSet struck = new BitSet();

    Scrub(Collection<String> values) {
        this(values.stream()
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .filter(value -> value.length >= LEAST)
                .toArray(byte[][]::new));
    }

    private Scrub(byte[][] values) {
        this.values = List.of(values);
        for (byte[] value : values) {
            begins[value[0] & 0xff] = true;
        }
    }

    /// A scrub with more values. Call this before any content has passed.
    Scrub with(Collection<String> more) {
        return new Scrub(
                Stream.concat(values.stream(), new Scrub(more).values.stream()).toArray(byte[][]::new));
    }

    /// Takes the next piece, and gives what can pass now.
    ByteBuffer pass(ByteBuffer piece) {
        byte[] all = Arrays.copyOf(held, held.length + piece.remaining());
        piece.get(all, held.length, piece.remaining());
        var found = find(all);
        found.or(struck);
        int end = beginning(all);
        held = Arrays.copyOfRange(all, end, all.length);
        struck = found.get(end, all.length);
        cover(all, found, end);
        return ByteBuffer.wrap(all, 0, end);
    }

    /// The bytes still held back, at the end of the stream.
    ByteBuffer rest() {
        byte[] rest = held;
        cover(rest, struck, rest.length);
        held = new byte[0];
        struck = new BitSet();
        return ByteBuffer.wrap(rest);
    }

    /// The value of a header, whose characters are bytes.
    String text(String text) {
        var charset = text.chars().allMatch(c -> c <= 0xff) ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
        byte[] bytes = text.getBytes(charset);
        var found = find(bytes);
        if (found.isEmpty()) {
            return text;
        }
        cover(bytes, found, bytes.length);
        return new String(bytes, charset);
    }

    /// The name of a header, which servers write in small letters or in capital ones.
    String name(String name) {
        var small = inSmallLetters;
        if (small == null) {
            small = new Scrub(values.stream().map(Scrub::small).toArray(byte[][]::new));
            inSmallLetters = small;
        }
        byte[] bytes = small(name.getBytes(StandardCharsets.ISO_8859_1));
        var found = small.find(bytes);
        if (found.isEmpty()) {
            return name;
        }
        cover(bytes, found, bytes.length);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] small(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1)
                .toLowerCase(Locale.ROOT)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /// The bytes that are part of a value.
    BitSet find(byte[] bytes) {
        var found = new BitSet();
        for (int at = 0; at < bytes.length; at++) {
            if (begins[bytes[at] & 0xff]) {
                mark(bytes, at, found);
            }
        }
        return found;
    }

    private void mark(byte[] bytes, int at, BitSet found) {
        for (byte[] value : values) {
            if (at + value.length <= bytes.length && isAt(bytes, at, value, value.length)) {
                found.set(at, at + value.length);
            }
        }
    }

    private static void cover(byte[] bytes, BitSet found, int end) {
        for (int at = found.nextSetBit(0); at >= 0 && at < end; at = found.nextSetBit(at + 1)) {
            bytes[at] = STAR;
        }
    }

    /// Where the longest end of the bytes begins that is the beginning of a value.
    int beginning(byte[] bytes) {
        int first = bytes.length;
        for (byte[] value : values) {
            int most = Math.min(value.length - 1, bytes.length);
            for (int length = most; length > bytes.length - first; length--) {
                if (isAt(bytes, bytes.length - length, value, length)) {
                    first = bytes.length - length;
                }
            }
        }
        return first;
    }

    private static boolean isAt(byte[] bytes, int at, byte[] value, int length) {
        return Arrays.equals(bytes, at, at + length, value, 0, length);
    }
}
