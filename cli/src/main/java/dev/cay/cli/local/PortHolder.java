package dev.cay.cli.local;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The program that listens on a TCP port of this host, found by reading `/proc`: the socket's inode stands in the
/// table of sockets, and the process that has it open links to it.
public record PortHolder(long pid, String program) {
    private static final String LISTEN = "0A";

    /// The holder of the port; empty when there is none, or when it is another user's process and this one is not
    /// root.
    public static Optional<PortHolder> find(int port) {
        Set<String> inodes = new HashSet<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            try {
                inodes.addAll(listening(Files.readAllLines(Path.of(table)), port));
            } catch (IOException _) {
                // A kernel without IPv6 has no second table.
            }
        }
        return inodes.isEmpty() ? Optional.empty() : owner(inodes);
    }

    /// Inodes of sockets that listen on the port, out of the lines of `/proc/net/tcp`.
    public static Set<String> listening(List<String> table, int port) {
        var inodes = new HashSet<String>();
        String suffix = ":%04X".formatted(port);
        for (String line : table) {
            String[] fields = line.strip().split("\\s+");
            if (fields.length > 9 && fields[1].endsWith(suffix) && fields[3].equals(LISTEN)) {
                inodes.add(fields[9]);
            }
        }
        return inodes;
    }

    private static Optional<PortHolder> owner(Set<String> inodes) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
            for (Path process : processes) {
                if (hasOpen(process, inodes)) {
                    long pid = Long.parseLong(process.getFileName().toString());
                    return Optional.of(new PortHolder(
                            pid, Files.readString(process.resolve("comm")).strip()));
                }
            }
        } catch (IOException _) {
            // The process has ended, or is not visible.
        }
        return Optional.empty();
    }

    private static boolean hasOpen(Path process, Set<String> inodes) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                String target = Files.readSymbolicLink(descriptor).toString();
                if (target.startsWith("socket:[") && inodes.contains(target.substring(8, target.length() - 1))) {
                    return true;
                }
            }
        } catch (IOException _) {
            // Processes end meanwhile.
        }
        return false;
    }
}
