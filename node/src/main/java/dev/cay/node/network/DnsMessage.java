package dev.cay.node.network;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// A DNS message as far as a forwarder must understand it: its id, its name and type; the rest passes unread.
final class DnsMessage {
    static final int TYPE_A = 1;
    static final int TYPE_AAAA = 28;
    static final int FORMAT_ERROR = 1;
    static final int SERVER_FAILURE = 2;
    static final int NO_SUCH_NAME = 3;
    static final int REFUSED = 5;

    private static final int TYPE_SVCB = 64;
    private static final int TYPE_HTTPS = 65;
    private static final int CLASS_IN = 1;
    private static final int HEADER = 12;
    private static final int MAX_LABEL = 63;
    private static final int MAX_ADDRESSES = 32;
    private static final int MAX_NAME = 255;
    private static final byte RESPONSE = (byte) 0x80;
    private static final byte[] LOOPBACK4 = {127, 0, 0, 1};
    private static final byte[] LOOPBACK6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    /// @param seconds for which the answer holds
    record Found(List<InetAddress> addresses, int seconds) {}

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

    /// Makes a query.
    static DnsMessage question(String name, int type) throws UnknownHostException {
        var out = ByteBuffer.allocate(HEADER + MAX_NAME + 8);
        // Flags: recursion desired; one question.
        out.putShort((short) 0).putShort((short) 0x0100).putShort((short) 1);
        out.position(HEADER);
        for (String label : name.split("\\.", -1)) {
            byte[] bytes = label.getBytes(StandardCharsets.ISO_8859_1);
            if (bytes.length == 0 || bytes.length > MAX_LABEL || out.remaining() < bytes.length + 6) {
                throw new UnknownHostException(name);
            }
            out.put((byte) bytes.length).put(bytes);
        }
        out.put((byte) 0).putShort((short) type).putShort((short) CLASS_IN);
        byte[] bytes = Arrays.copyOf(out.array(), out.position());
        return new DnsMessage(bytes, name.toLowerCase(Locale.ROOT), type, bytes.length);
    }

    /// The name that is asked for, in lower case.
    String name() {
        return name;
    }

    /// Whether it asks for IPv4 addresses and nothing else.
    boolean wantsAddresses() {
        return type == TYPE_A && ByteBuffer.wrap(bytes).getShort(questionEnd - 2) == CLASS_IN;
    }

    /// Whether it asks for addresses of either kind.
    boolean isForAddresses() {
        return type == TYPE_A || type == TYPE_AAAA;
    }

    /// Whether it asks where and how a service is reached.
    boolean bindsService() {
        return type == TYPE_SVCB || type == TYPE_HTTPS;
    }

    /// Whether the answer did not fit.
    boolean isTruncated() {
        return (bytes[2] & 0x02) != 0;
    }

    /// The IPv4 addresses of an answer, whatever names lead to them.
    ///
    /// @throws IOException if the answer is not well formed
    Found addresses() throws IOException {
        var in = ByteBuffer.wrap(bytes);
        var found = new ArrayList<InetAddress>();
        int seconds = Integer.MAX_VALUE;
        try {
            int records = in.getShort(6) & 0xffff;
            in.position(questionEnd);
            for (int i = 0; i < records; i++) {
                skipName(in);
                int kind = in.getShort() & 0xffff;
                int group = in.getShort() & 0xffff;
                int life = Math.max(0, in.getInt());
                byte[] data = new byte[in.getShort() & 0xffff];
                in.get(data);
                seconds = Math.min(seconds, life);
                if (kind == TYPE_A && group == CLASS_IN && data.length == 4 && found.size() < MAX_ADDRESSES) {
                    found.add(InetAddress.getByAddress(data));
                }
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new IOException("a name server's answer is not well formed", e);
        }
        return new Found(List.copyOf(found), seconds);
    }

    /// All addresses that are anywhere in a message, of both kinds.
    ///
    /// @throws IOException if the message is not well formed
    List<InetAddress> allAddresses() throws IOException {
        var in = ByteBuffer.wrap(bytes);
        return addresses((in.getShort(6) & 0xffff) + (in.getShort(8) & 0xffff) + (in.getShort(10) & 0xffff));
    }

    /// The addresses that a message gives as the answer, of both kinds, and not those of name servers.
    ///
    /// @throws IOException if the message is not well formed
    List<InetAddress> answered() throws IOException {
        return addresses(ByteBuffer.wrap(bytes).getShort(6) & 0xffff);
    }

    private List<InetAddress> addresses(int records) throws IOException {
        var in = ByteBuffer.wrap(bytes);
        var found = new ArrayList<InetAddress>();
        try {
            in.position(questionEnd);
            for (int i = 0; i < records; i++) {
                skipName(in);
                int kind = in.getShort() & 0xffff;
                in.position(in.position() + 6);
                byte[] data = new byte[in.getShort() & 0xffff];
                in.get(data);
                if ((kind == TYPE_A && data.length == 4) || (kind == TYPE_AAAA && data.length == 16)) {
                    found.add(InetAddress.getByAddress(data));
                }
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new IOException("a name server's answer is not well formed", e);
        }
        return found;
    }

    private static void skipName(ByteBuffer in) {
        for (int length = in.get() & 0xff; length != 0; length = in.get() & 0xff) {
            if (length > MAX_LABEL) {
                // The rest stands elsewhere; the reference has a second byte.
                in.get();
                return;
            }
            in.position(in.position() + length);
        }
    }

    /// An answer of addresses.
    byte[] answer(List<InetAddress> addresses, int seconds) {
        var reply = ByteBuffer.allocate(questionEnd + 16 * addresses.size());
        reply.put(failure(0)).putShort(6, (short) addresses.size());
        for (var address : addresses) {
            putRecord(reply, seconds, address.getAddress());
        }
        return reply.array();
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

    /// Whether this answers the query: same id, same name and type.
    boolean answers(DnsMessage question, int id) {
        return (bytes[2] & RESPONSE) != 0 && id() == id && type == question.type && name.equals(question.name);
    }

    /// Whether the name is `localhost` or below it. Some C libraries query DNS for it, although it means the machine
    /// itself.
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

    /// An answer without records: a new header, and the question unchanged.
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
        putRecord(reply, 60, address);
        return reply.array();
    }

    /// Name by reference to the question, type, class IN, seconds to live.
    private void putRecord(ByteBuffer reply, int seconds, byte[] data) {
        reply.putShort((short) 0xc00c)
                .putShort((short) type)
                .putShort((short) CLASS_IN)
                .putInt(seconds);
        reply.putShort((short) data.length).put(data);
    }

    /// Writes a message as streams carry it: its length first.
    static void writeFramed(DataOutputStream out, byte[] message) throws IOException {
        var framed = new byte[message.length + 2];
        framed[0] = (byte) (message.length >> 8);
        framed[1] = (byte) message.length;
        System.arraycopy(message, 0, framed, 2, message.length);
        out.write(framed);
        out.flush();
    }
}
