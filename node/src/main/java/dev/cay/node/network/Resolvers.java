package dev.cay.node.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Name servers to forward queries to: the configured ones, else those of `/etc/resolv.conf`, read again when it
/// changes. A stub like systemd-resolved's works, because the node asks from the host.
final class Resolvers {
    private static final int PORT = 53;

    private final List<InetSocketAddress> configured;
    private final InetAddress self;
    private final Path file;
    private List<InetSocketAddress> read = List.of();
    private @Nullable FileTime readAt;

    /// @param nameservers addresses, each with or without `:port`
    /// @param self        never asked: it would be ourselves
    Resolvers(List<String> nameservers, InetAddress self) {
        this(nameservers, self, Path.of("/etc/resolv.conf"));
    }

    Resolvers(List<String> nameservers, InetAddress self, Path file) {
        this.configured = nameservers.stream().map(Resolvers::parse).toList();
        this.self = self;
        this.file = file;
    }

    synchronized List<InetSocketAddress> list() {
        if (!configured.isEmpty()) {
            return configured;
        }
        try {
            var changed = Files.getLastModifiedTime(file);
            if (!changed.equals(readAt)) {
                read = read();
                readAt = changed;
            }
        } catch (IOException _) {
            // The file is being replaced, so the known servers are the best guess.
        }
        return read;
    }

    private List<InetSocketAddress> read() throws IOException {
        var servers = new ArrayList<InetSocketAddress>();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.strip().split("\\s+");
            if (words.length >= 2 && words[0].equals("nameserver")) {
                address(words[1])
                        .filter(server -> !server.equals(self))
                        .ifPresent(server -> servers.add(new InetSocketAddress(server, PORT)));
            }
        }
        // With an empty file, as the C library does.
        return servers.isEmpty()
                ? List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT))
                : List.copyOf(servers);
    }

    /// Parses an address. A line that cannot be parsed is skipped.
    private static Optional<InetAddress> address(String literal) {
        try {
            return Optional.of(InetAddress.ofLiteral(literal));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static InetSocketAddress parse(String nameserver) {
        int colon = nameserver.lastIndexOf(':');
        boolean hasPort = colon > 0 && (nameserver.indexOf(':') == colon || nameserver.charAt(colon - 1) == ']');
        String host = (hasPort ? nameserver.substring(0, colon) : nameserver).replaceAll("[\\[\\]]", "");
        int port = hasPort ? Integer.parseInt(nameserver.substring(colon + 1)) : PORT;
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }
}
