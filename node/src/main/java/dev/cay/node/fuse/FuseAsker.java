package dev.cay.node.fuse;

import dev.cay.node.runtime.Container;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/// Who asks for a mount.
///
/// Every user inside can read the addresses of all others, and could name one of them in a request of its own. So the
/// user counts that the connection of the request belongs to.
///
/// @param name address of the program that gets the connection of the file system
/// @param user who sends the request, as the host counts
record FuseAsker(String name, long user) {
    private static final String UNKNOWN = "it cannot be seen which user asks";

    /// Columns of a list of TCP connections that the kernel makes.
    private static final int LOCAL = 1;

    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int USER = 7;

    /// Connections that have ended are listed as root's for a while.
    private static final String ESTABLISHED = "01";

    /// @param from where the request comes from
    /// @param port of ours that it came to
    static FuseAsker find(Container container, String name, SocketAddress from, int port) {
        if (!(from instanceof InetSocketAddress client)) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, UNKNOWN);
        }
        try (var lines = Files.lines(Path.of("/proc", Integer.toString(container.pid()), "net", "tcp"))) {
            var users = lines.map(line -> line.strip().split("\\s+"))
                    .filter(fields -> fields.length > USER
                            && fields[STATE].equals(ESTABLISHED)
                            && fields[LOCAL].equals(shown(client))
                            && fields[REMOTE].endsWith(":%04X".formatted(port)))
                    .map(fields -> Long.parseLong(fields[USER]))
                    .distinct()
                    .toList();
            if (users.size() != 1) {
                throw new CayException(ErrorKind.PERMISSION_DENIED, UNKNOWN);
            }
            return new FuseAsker(name, users.getFirst());
        } catch (IOException e) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, UNKNOWN, e);
        }
    }

    /// As the kernel writes addresses of IPv4: in the order of this machine's bytes.
    private static String shown(InetSocketAddress address) {
        byte[] bytes = address.getAddress().getAddress();
        var text = new StringBuilder();
        for (int i = bytes.length - 1; i >= 0; i--) {
            text.append(HexFormat.of().withUpperCase().toHexDigits(bytes[i]));
        }
        return "%s:%04X".formatted(text, address.getPort());
    }
}
