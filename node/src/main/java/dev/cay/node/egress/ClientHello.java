package dev.cay.node.egress;

import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads the server name from the first message of a TLS client, however the client split it into records.
///
/// The bytes are hostile. A message that does not follow RFC 8446 to the letter, that names two hosts, or
/// that is longer than {@link #MOST} is judged by its address alone, and refused where all TLS is opened.
///
/// @param name the host that the client names, in lower case; null if it names no valid host name
record ClientHello(@Nullable String name) {
    /// Most bytes that are read of it.
    static final int MOST = 32 * 1024;

    static final byte HANDSHAKE = 22;
    private static final int MAX_RECORD = 16_384;
    private static final int RECORD_HEADER = 5;
    private static final int MESSAGE_HEADER = 4;
    private static final int CLIENT_HELLO = 1;
    private static final int SERVER_NAME = 0;
    private static final int HOST_NAME = 0;
    private static final int RANDOM = 32;

    /// The bytes are no such message.
    static final class Malformed extends Exception {
        Malformed() {
            super("not a ClientHello", null, false, false);
        }
    }

    /// @return nothing while bytes are missing
    static Optional<ClientHello> read(byte[] bytes, int length) throws Malformed {
        try {
            byte[] message = message(ByteBuffer.wrap(bytes, 0, length));
            if (message == null) {
                require(length < MOST);
                return Optional.empty();
            }
            return Optional.of(new ClientHello(serverName(ByteBuffer.wrap(message))));
        } catch (BufferUnderflowException | BufferOverflowException | IllegalArgumentException _) {
            throw new Malformed();
        }
    }

    /// The body of the message, put together from records; null while bytes are missing.
    private static byte @Nullable [] message(ByteBuffer in) throws Malformed {
        var body = ByteBuffer.allocate(MOST);
        while (true) {
            checkBeginning(in);
            if (in.remaining() < RECORD_HEADER) {
                return null;
            }
            in.position(in.position() + 3);
            int length = in.getShort() & 0xffff;
            require(length > 0 && length <= MAX_RECORD);
            var part = part(in, Math.min(length, in.remaining()));
            int there = part.remaining();
            body.put(part);
            require(body.position() == 0 || body.get(0) == CLIENT_HELLO);
            if (body.position() >= MESSAGE_HEADER) {
                int end = MESSAGE_HEADER + (body.getInt(0) & 0xffffff);
                require(end <= MOST);
                if (body.position() >= end) {
                    // More data in the same record would be another message, which no client sends here.
                    require(body.position() == end);
                    return Arrays.copyOfRange(body.array(), MESSAGE_HEADER, end);
                }
            }
            if (there < length) {
                return null;
            }
        }
    }

    /// Checks as much of the record's header as has arrived.
    private static void checkBeginning(ByteBuffer in) throws Malformed {
        require(in.remaining() < 1 || in.get(in.position()) == HANDSHAKE);
        require(in.remaining() < 2 || in.get(in.position() + 1) == 3);
    }

    private static @Nullable String serverName(ByteBuffer in) throws Malformed {
        in.getShort();
        skip(in, RANDOM);
        int session = in.get() & 0xff;
        require(session <= 32);
        skip(in, session);
        skip(in, in.getShort() & 0xffff);
        skip(in, in.get() & 0xff);
        if (!in.hasRemaining()) {
            return null;
        }
        var extensions = part(in, in.getShort() & 0xffff);
        require(!in.hasRemaining());
        String name = null;
        boolean seen = false;
        while (extensions.hasRemaining()) {
            int type = extensions.getShort() & 0xffff;
            var content = part(extensions, extensions.getShort() & 0xffff);
            if (type == SERVER_NAME) {
                require(!seen);
                seen = true;
                name = hostName(content);
            }
        }
        return name;
    }

    private static @Nullable String hostName(ByteBuffer in) throws Malformed {
        var list = part(in, in.getShort() & 0xffff);
        require(!in.hasRemaining());
        require((list.get() & 0xff) == HOST_NAME);
        byte[] bytes = new byte[list.getShort() & 0xffff];
        list.get(bytes);
        // A second name, of any type, would be ambiguous.
        require(!list.hasRemaining());
        String name = HostPattern.plain(new String(bytes, StandardCharsets.ISO_8859_1));
        return HostPattern.isName(name) ? name : null;
    }

    private static ByteBuffer part(ByteBuffer in, int length) {
        if (length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        var part = in.slice(in.position(), length);
        in.position(in.position() + length);
        return part;
    }

    private static void skip(ByteBuffer in, int length) {
        part(in, length);
    }

    private static void require(boolean holds) throws Malformed {
        if (!holds) {
            throw new Malformed();
        }
    }
}
