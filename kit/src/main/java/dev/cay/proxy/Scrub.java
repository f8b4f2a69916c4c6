package dev.cay.proxy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/// Strikes values out of an answer while it passes: each byte of a value becomes `*`, so that lengths stay as they are.
/// It finds a value as it was sent, also in pieces. A server that sends it in another form is not stopped by this.
final class Scrub {
    /// A shorter value is part of too much that is none.
    private static final int LEAST = 6;

    private final List<byte[]> values;

    /// The end of what has come, as far as a value may begin there.
    private byte[] held = {};

    Scrub(Collection<String> values) {
        this.values = values.stream()
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .filter(value -> value.length >= LEAST)
                .toList();
    }

    private Scrub(byte[][] values) {
        this.values = List.of(values);
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
        strike(all);
        int end = beginning(all);
        held = Arrays.copyOfRange(all, end, all.length);
        return ByteBuffer.wrap(all, 0, end);
    }

    /// The bytes still held back, at the end of the stream.
    ByteBuffer rest() {
        var rest = ByteBuffer.wrap(held);
        held = new byte[0];
        return rest;
    }

    String text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        strike(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    void strike(byte[] bytes) {
        for (byte[] value : values) {
            for (int at = 0; at + value.length <= bytes.length; at++) {
                if (isAt(bytes, at, value, value.length)) {
                    Arrays.fill(bytes, at, at + value.length, (byte) '*');
                    at += value.length - 1;
                }
            }
        }
    }

    /// The length of the longest suffix of the bytes that is a prefix of a value.
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
