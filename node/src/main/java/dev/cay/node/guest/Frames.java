package dev.cay.node.guest;

import dev.cay.node.linux.Descriptor;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Cuts what a guest sends into frames and keeps the descriptors that came along. Used by one thread.
///
/// Descriptors come with the first byte of the frame they belong to, so they are handed out in order of
/// arrival; what no frame asked for is a violation.
final class Frames implements AutoCloseable {
    static final int MAX_LENGTH = 1 << 20;
    private static final int HEAD = 9;
    private static final int MAX_DESCRIPTORS = 12;

    /// A frame whose payload is read front to back; a malformed one is a protocol violation.
    record Frame(int type, int request, ByteBuffer payload) {
        int u8() throws ProtocolException {
            return Byte.toUnsignedInt(need(1).get());
        }

        int i32() throws ProtocolException {
            return need(4).getInt();
        }

        /// Reads a number that must not be negative.
        int positive() throws ProtocolException {
            int value = i32();
            if (value < 0) {
                throw new ProtocolException("number out of range");
            }
            return value;
        }

        String string(int limit) throws ProtocolException {
            int length = positive();
            if (length > limit) {
                throw new ProtocolException("text too long");
            }
            byte[] bytes = new byte[length];
            need(length).get(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        void end() throws ProtocolException {
            if (payload.hasRemaining()) {
                throw new ProtocolException("frame too long");
            }
        }

        private ByteBuffer need(int count) throws ProtocolException {
            if (payload.remaining() < count) {
                throw new ProtocolException("frame too short");
            }
            return payload;
        }
    }

    private final Deque<Descriptor> lent = new ArrayDeque<>();
    private byte[] buffer = new byte[4096];
    private int filled;
    private int taken;
    private boolean closed;

    /// Adds what one receive brought; takes the descriptors over, also when it throws.
    void add(byte[] bytes, int length, Collection<Descriptor> descriptors) throws ProtocolException {
        if (closed) {
            descriptors.forEach(Descriptor::close);
            throw new ProtocolException("closed");
        }
        lent.addAll(descriptors);
        if (lent.size() > MAX_DESCRIPTORS) {
            throw new ProtocolException("too many descriptors");
        }
        if (taken > 0) {
            System.arraycopy(buffer, taken, buffer, 0, filled - taken);
            filled -= taken;
            taken = 0;
        }
        if (filled + length > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.max(filled + length, 2 * buffer.length));
        }
        System.arraycopy(bytes, 0, buffer, filled, length);
        filled += length;
    }

    /// The next whole frame, or null when more bytes are needed.
    @Nullable
    Frame next() throws ProtocolException {
        int available = filled - taken;
        if (available < HEAD) {
            return null;
        }
        var head = ByteBuffer.wrap(buffer, taken, HEAD).order(ByteOrder.LITTLE_ENDIAN);
        int length = head.getInt();
        if (length < HEAD - 4 || length > MAX_LENGTH) {
            throw new ProtocolException("frame of impossible length");
        }
        if (available < 4 + length) {
            return null;
        }
        int type = Byte.toUnsignedInt(head.get());
        int request = head.getInt();
        var payload = ByteBuffer.wrap(Arrays.copyOfRange(buffer, taken + HEAD, taken + 4 + length));
        taken += 4 + length;
        return new Frame(type, request, payload.order(ByteOrder.LITTLE_ENDIAN));
    }

    /// The oldest descriptors; the caller owns them.
    List<Descriptor> take(int count) throws ProtocolException {
        if (lent.size() < count) {
            throw new ProtocolException("descriptors are missing");
        }
        var taken = new Descriptor[count];
        Arrays.setAll(taken, _ -> lent.removeFirst());
        return List.of(taken);
    }

    /// Checks the rest after all whole frames are read: descriptors may wait only for the rest of a frame that has
    /// begun.
    void checkRest() throws ProtocolException {
        if (filled == taken) {
            buffer = buffer.length > 65536 ? new byte[4096] : buffer;
            if (!lent.isEmpty()) {
                throw new ProtocolException("descriptors that no frame asked for");
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        lent.forEach(Descriptor::close);
        lent.clear();
    }
}
