package dev.cay.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// Strikes values out of messages of a protocol that sends messages in frames. It finds a value in one message, also
/// when frames cut it, and gives the end of a message away as soon as the message is complete: the other side may wait
/// for it.
final class FramedScrub {
    /// Most bytes that are held back: more than a value and some frames between its pieces. A server that sends more
    /// between them is hostile, and has other ways to pass a value on.
    private static final int MOST_HELD = 1 << 17;

    /// The beginning of a frame.
    ///
    /// @param length  of what follows
    /// @param content whether that is part of a message, and not a word of the protocol
    /// @param last    whether it ends the message
    record Frame(long length, boolean content, boolean last) {}

    /// The framing of a protocol.
    enum Protocol {
        /// RFC 6455.
        WEBSOCKET {
            @Override
            @Nullable
            Frame read(byte[] head, int count) {
                if (count < 2) {
                    return null;
                }
                int length = head[1] & 0x7f;
                int more = length == 126 ? 2 : length == 127 ? Long.BYTES : 0;
                boolean masked = (head[1] & 0x80) != 0;
                if (count < 2 + more + (masked ? Integer.BYTES : 0)) {
                    return null;
                }
                boolean control = (head[0] & 0x08) != 0;
                long size = more == 0 ? length : number(head, 2, more);
                return new Frame(size, !control && !masked, !control && (head[0] & 0x80) != 0);
            }
        },
        /// gRPC: each message is preceded by a flag and its length.
        GRPC {
            @Override
            @Nullable
            Frame read(byte[] head, int count) {
                return count < 1 + Integer.BYTES ? null : new Frame(number(head, 1, Integer.BYTES), true, true);
            }
        };

        /// @return null when more bytes are needed
        abstract @Nullable Frame read(byte[] head, int count);

        private static long number(byte[] bytes, int at, int count) {
            long number = 0;
            for (int i = at; i < at + count; i++) {
                number = number << 8 | (bytes[i] & 0xff);
            }
            return number < 0 ? Long.MAX_VALUE : number;
        }
    }

    private final Scrub scrub;
    private final Protocol protocol;
    private final byte[] head = new byte[16];
    private int headed;
    private @Nullable Frame frame;
    private long left;

    /// The bytes that have arrived and were not passed on, with a mark for each that is content, and for each that is
    /// part of a value.
    private byte[] held = {};

    private BitSet content = new BitSet();
    private BitSet struck = new BitSet();

    FramedScrub(Scrub scrub, Protocol protocol) {
        this.scrub = scrub;
        this.protocol = protocol;
    }

    /// Takes the next piece, and gives what can pass now.
    ByteBuffer pass(ByteBuffer piece) {
        var passed = new ByteArrayOutputStream(held.length + piece.remaining());
        while (piece.hasRemaining()) {
            if (frame == null) {
                readHead(piece);
            } else {
                int count = (int) Math.min(left, piece.remaining());
                byte[] bytes = new byte[count];
                piece.get(bytes);
                hold(bytes, count, frame.content());
                left -= count;
            }
            if (frame != null && left == 0) {
                boolean complete = frame.last();
                frame = null;
                if (complete) {
                    release(passed, true);
                }
            }
        }
        release(passed, held.length > MOST_HELD);
        return ByteBuffer.wrap(passed.toByteArray());
    }

    private void readHead(ByteBuffer piece) {
        while (frame == null && piece.hasRemaining()) {
            head[headed++] = piece.get();
            frame = protocol.read(head, headed);
        }
        if (frame != null) {
            left = frame.length();
            hold(head, headed, false);
            headed = 0;
        }
    }

    private void hold(byte[] bytes, int count, boolean isContent) {
        int before = held.length;
        held = Arrays.copyOf(held, before + count);
        System.arraycopy(bytes, 0, held, before, count);
        content.set(before, before + count, isContent);
    }

    /// @param all also what may be the beginning of a value
    private void release(ByteArrayOutputStream to, boolean all) {
        int[] places = content.stream().toArray();
        byte[] text = new byte[places.length];
        for (int i = 0; i < places.length; i++) {
            text[i] = held[places[i]];
        }
        scrub.find(text).stream().forEach(i -> struck.set(places[i]));
        // The client says whether a call is gRPC. The answer may be plain text all the same, which has no heads.
        boolean maybePlain = protocol == Protocol.GRPC;
        if (maybePlain) {
            struck.or(scrub.find(held));
        }
        int kept = all ? places.length : scrub.beginning(text);
        int framed = kept == places.length ? held.length : places[kept];
        int end = all || !maybePlain ? framed : Math.min(framed, scrub.beginning(held));
        byte[] passed = Arrays.copyOf(held, end);
        struck.stream().takeWhile(at -> at < end).forEach(at -> passed[at] = Scrub.STAR);
        to.write(passed, 0, end);
        content = content.get(end, held.length);
        struck = struck.get(end, held.length);
        held = Arrays.copyOfRange(held, end, held.length);
    }

    /// The bytes still held back, at the end of the stream.
    ByteBuffer rest() {
        var rest = new ByteArrayOutputStream();
        release(rest, true);
        rest.write(head, 0, headed);
        return ByteBuffer.wrap(rest.toByteArray());
    }
}
