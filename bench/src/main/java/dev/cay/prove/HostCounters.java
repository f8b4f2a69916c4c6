package dev.cay.prove;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What sandboxes could use up for the whole host, and what the daemon holds, at one moment.
record HostCounters(Map<String, Long> values) {
    static HostCounters read(long daemon) throws IOException {
        var values = new LinkedHashMap<String, Long>();
        values.put("files", first(Path.of("/proc/sys/fs/file-nr")));
        values.put("ptys", first(Path.of("/proc/sys/kernel/pty/nr")));
        values.put("aio", first(Path.of("/proc/sys/fs/aio-nr")));
        values.put("flows", first(Path.of("/proc/sys/net/netfilter/nf_conntrack_count")));
        values.put("neighbours", Files.readAllLines(Path.of("/proc/net/arp")).size() - 1L);
        var process = Path.of("/proc", Long.toString(daemon));
        try (var open = Files.list(process.resolve("fd"))) {
            values.put("daemonFds", open.count());
        }
        for (String line : Files.readAllLines(process.resolve("status"))) {
            String[] words = line.split("\\s+");
            if (line.startsWith("Threads:")) {
                values.put("daemonThreads", Long.parseLong(words[1]));
            } else if (line.startsWith("VmRSS:")) {
                values.put("daemonMB", Long.parseLong(words[1]) / 1024);
            }
        }
        return new HostCounters(values);
    }

    private static long first(Path file) {
        // In one read: these files have no size and answer only from their beginning.
        try (var in = Files.newInputStream(file)) {
            return Long.parseLong(new String(in.readNBytes(256), StandardCharsets.US_ASCII).split("\\s+")[0]);
        } catch (IOException e) {
            return -1;
        }
    }

    long get(String name) {
        return values.getOrDefault(name, -1L);
    }

    /// Which of these are more than before, one sentence each.
    ///
    /// @param slack that says nothing: pools breathe
    List<String> grownSince(HostCounters before, int slack, String... names) {
        return Stream.of(names)
                .filter(name -> get(name) > before.get(name) + slack)
                .map(name -> "%s grew from %d to %d".formatted(name, before.get(name), get(name)))
                .toList();
    }

    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", "));
    }
}
