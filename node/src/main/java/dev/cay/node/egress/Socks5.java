package dev.cay.node.egress;

import dev.cay.wire.node.EgressProxy;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;

/// The client's side of SOCKS5 (RFC 1928, and RFC 1929 for user names): asks a proxy to connect to an
/// address.
final class Socks5 {
    private static final byte VERSION = 5;
    private static final byte NO_AUTHENTICATION = 0;
    private static final byte USER_NAME = 2;
    private static final byte CONNECT = 1;
    private static final byte IPV4 = 1;
    private static final byte NAME = 3;
    private static final byte IPV6 = 4;

    private Socks5() {}

    /// Returns when the proxy is connected; what follows on the channel is the server's.
    ///
    /// The proxy gets an address, never a name: a name may mean something else where the proxy is.
    static void connect(ByteChannel channel, EgressProxy proxy, InetSocketAddress target) throws IOException {
        byte method = proxy.username() == null ? NO_AUTHENTICATION : USER_NAME;
        channel.write(ByteBuffer.wrap(new byte[] {VERSION, 1, method}));
        byte[] chosen = read(channel, 2);
        if (chosen[0] != VERSION || chosen[1] != method) {
            throw new IOException("the egress proxy takes no connection with these credentials");
        }
        if (proxy.username() != null) {
            authenticate(channel, proxy.username(), proxy.password() == null ? "" : proxy.password());
        }
        byte[] address = target.getAddress().getAddress();
        channel.write(ByteBuffer.allocate(6 + address.length)
                .put(VERSION)
                .put(CONNECT)
                .put((byte) 0)
                .put(address.length == 4 ? IPV4 : IPV6)
                .put(address)
                .putShort((short) target.getPort())
                .flip());
        readReply(channel);
    }

    private static void authenticate(ByteChannel channel, String username, String password) throws IOException {
        byte[] user = username.getBytes(StandardCharsets.UTF_8);
        byte[] secret = password.getBytes(StandardCharsets.UTF_8);
        if (user.length == 0 || user.length > 255 || secret.length > 255) {
            throw new IOException("the user name or password of the egress proxy is too long");
        }
        channel.write(ByteBuffer.allocate(3 + user.length + secret.length)
                .put((byte) 1)
                .put((byte) user.length)
                .put(user)
                .put((byte) secret.length)
                .put(secret)
                .flip());
        if (read(channel, 2)[1] != 0) {
            throw new IOException("the egress proxy refuses the user name and password");
        }
    }

    private static void readReply(ByteChannel channel) throws IOException {
        byte[] head = read(channel, 4);
        if (head[0] != VERSION || head[1] != 0) {
            throw new IOException("the egress proxy does not connect: " + reason(head[1]));
        }
        int rest = switch (head[3]) {
            case IPV4 -> 4;
            case IPV6 -> 16;
            case NAME -> read(channel, 1)[0] & 0xff;
            default -> throw new IOException("the egress proxy answers with an unknown kind of address");
        };
        read(channel, rest + 2);
    }

    private static String reason(byte code) {
        return switch (code) {
            case 2 -> "its rules do not allow it";
            case 3 -> "the network cannot be reached";
            case 4 -> "the host cannot be reached";
            case 5 -> "the connection was refused";
            default -> "code " + code;
        };
    }

    /// Exactly so many bytes: one more would be the server's.
    private static byte[] read(ByteChannel channel, int length) throws IOException {
        var bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException("the egress proxy closed the connection");
            }
        }
        return bytes.array();
    }
}
