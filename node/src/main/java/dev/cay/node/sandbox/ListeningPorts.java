package dev.cay.node.sandbox;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;

/// The ports of TCP on which something listens, as the kernel lists them for a process and its network.
///
/// Read from outside, because a program that reads them inside is one more process of the sandbox, which is in its log.
final class ListeningPorts {
    /// The kernel lists sockets that listen before all others, of which there can be very many.
    private static final int MOST_BYTES = 256 << 10;

    private static final String LISTENS = "0A";
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int HEXADECIMAL = 16;

    private ListeningPorts() {}

    static List<Integer> of(long pid) throws IOException {
        var ports = new TreeSet<Integer>();
        for (var table : List.of("tcp", "tcp6")) {
            try (var file = new FileInputStream("/proc/%d/net/%s".formatted(pid, table))) {
                var text = new String(file.readNBytes(MOST_BYTES), StandardCharsets.US_ASCII);
                text.lines().map(line -> line.strip().split("\\s+")).forEach(fields -> {
                    if (fields.length > STATE && fields[STATE].equals(LISTENS)) {
                        ports.add(
                                Integer.parseInt(fields[LOCAL].substring(fields[LOCAL].indexOf(':') + 1), HEXADECIMAL));
                    }
                });
            }
        }
        return List.copyOf(ports);
    }
}
