package dev.cay.node.network;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// A DNS message as far as a forwarder must understand it: its id, its name and type; the rest passes unread.
final class DnsMessage {
    static final int TYPE_A = 1;
    static final int TYPE_AAAA = 28;
    static final int FORMAT_ERROR = 1;
    static final int SERVER_FAILURE = 2;
    static final int REFUSED = 5;

    private static final int HEADER = 12;
    private static final int MAX_NAME = 255;
    private static final byte RESPONSE = (byte) 0x80;
    private static final byte[] LOOPBACK4 = {127, 0, 0, 1};
    private static final byte[] LOOPBACK6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    private final byte[] bytes;
    private final String name;
    private final int type;
    private final int questionEnd;

    private DnsMessage(byte[] bytes, String name, int type, int questionEnd) {
        this.bytes = bytes;
        this.name = name;
        this.type = type;
        this.questionEnd = questionEnd;
    }

    /// Reads a message with exactly one question; everything else is none of a resolver's business.
    static Optional<DnsMessage> parse(byte[] bytes) {
        if (bytes.length < HEADER) {
            return Optional.empty();
        }
        var in = ByteBuffer.wrap(bytes);
        if (in.getShort(4) != 1) {
            return Optional.empty();
        }
        try {
            var name = new StringBuilder();
            in.position(HEADER);
            for (int length = in.get() & 0xff; length != 0; length = in.get() & 0xff) {
                if (length > 63 || name.length() + length > MAX_NAME) {
                    return Optional.empty();
                }
                byte[] label = new byte[length];
                in.get(label);
                name.append(name.isEmpty() ? "" : ".").append(new String(label, StandardCharsets.ISO_8859_1));
            }
            int type = in.getShort() & 0xffff;
            in.getShort();
            return Optional.of(new DnsMessage(bytes, name.toString().toLowerCase(Locale.ROOT), type, in.position()));
        } catch (BufferUnderflowException _) {
            return Optional.empty();
        }
    }

    /// An ordinary query, not a response, an update or a transfer of notices.
    boolean isQuery() {
        return (bytes[2] & 0xf8) == 0;
    }

    int id() {
        return ByteBuffer.wrap(bytes).getShort(0) & 0xffff;
    }

    byte[] withId(int id) {
        byte[] copy = bytes.clone();
        ByteBuffer.wrap(copy).putShort(0, (short) id);
        return copy;
    }

    int responseCode() {
        return bytes[3] & 0x0f;
    }

    /// Whether this is the answer to a question we sent: same id, same name and type.
    boolean answers(DnsMessage question, int id) {
        return (bytes[2] & RESPONSE) != 0 && id() == id && type == question.type && name.equals(question.name);
    }

    /// Some C libraries ask DNS for names under `localhost` although they mean the machine itself.
    boolean isLocal() {
        return name.equals("localhost") || name.endsWith(".localhost");
    }

    byte[] localAnswer() {
        return switch (type) {
            case TYPE_A -> answer(LOOPBACK4);
            case TYPE_AAAA -> answer(LOOPBACK6);
            default -> failure(0);
        };
    }

    /// An answer without records: our header, the question as it came.
    byte[] failure(int code) {
        byte[] reply = Arrays.copyOf(bytes, questionEnd);
        reply[2] = (byte) (RESPONSE | (bytes[2] & 0x79));
        reply[3] = (byte) (0x80 | code);
        Arrays.fill(reply, 6, HEADER, (byte) 0);
        return reply;
    }

    private byte[] answer(byte[] address) {
        var reply = ByteBuffer.allocate(questionEnd + 12 + address.length);
        reply.put(failure(0)).putShort(6, (short) 1);
        // Name by reference to the question, type, class IN, a minute to live.
        reply.putShort((short) 0xc00c)
                .putShort((short) type)
                .putShort((short) 1)
                .putInt(60);
        reply.putShort((short) address.length).put(address);
        return reply.array();
    }
}
