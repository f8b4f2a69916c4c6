package dev.cay.node.runtime;

import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Files that are mounted over those of `/proc` and `/sys` that show the host's size, so that tools show the sandbox's.
///
/// `/proc/uptime` stays the kernel's: a fixed one breaks `ps`, and `sysinfo(2)` shows it anyway.
final class ProcFiles {
    private static final Pattern BLANK_LINE = Pattern.compile("\n\n+");
    private static final Pattern NUMBER = Pattern.compile("(?m)^(processor\\s*:).*$");
    private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s+(\\d+)");
    private static final String MEMINFO = "meminfo";

    private final Path directory;

    ProcFiles(Path directory) {
        this.directory = directory;
    }

    /// The path of each file inside, and its source.
    Map<String, Path> places() {
        var places = new LinkedHashMap<String, Path>();
        places.put("/proc/meminfo", directory.resolve(MEMINFO));
        places.put("/proc/cpuinfo", directory.resolve("cpuinfo"));
        places.put("/proc/loadavg", directory.resolve("loadavg"));
        places.put("/sys/devices/system/cpu/online", directory.resolve("online"));
        return places;
    }

    void write(Resources resources) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve(MEMINFO), memory(resources.memoryMB() * 1024L, 0, 0));
        Files.writeString(directory.resolve("cpuinfo"), processors(resources.cpuCount()));
        Files.writeString(directory.resolve("loadavg"), "0.00 0.00 0.00 1/64 64\n");
        int last = resources.cpuCount() - 1;
        Files.writeString(directory.resolve("online"), last == 0 ? "0\n" : "0-" + last + "\n");
    }

    /// Written over in place, in one piece of the same length: a reader never sees half a file.
    void update(Usage usage) throws IOException {
        Path file = directory.resolve(MEMINFO);
        Matcher total = TOTAL.matcher(Files.readString(file));
        if (!total.find()) {
            return;
        }
        String text = memory(Long.parseLong(total.group(1)), usage.memory() / 1024, usage.cache() / 1024);
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            var _ = channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
        }
    }

    private static String memory(long total, long used, long cached) {
        long available = Math.max(0, total - used);
        long free = Math.max(0, available - cached);
        var values = new LinkedHashMap<String, Long>();
        values.put("MemTotal", total);
        values.put("MemFree", free);
        values.put("MemAvailable", available);
        values.put("Buffers", 0L);
        values.put("Cached", cached);
        values.put("SwapCached", 0L);
        values.put("Active", used);
        values.put("Inactive", cached);
        values.put("SwapTotal", 0L);
        values.put("SwapFree", 0L);
        values.put("Shmem", 0L);
        values.put("Slab", 0L);
        values.put("SReclaimable", 0L);
        var text = new StringBuilder();
        values.forEach((name, value) -> text.append("%-15s %12d kB%n".formatted(name + ":", value)));
        return text.toString();
    }

    private static String processors(int count) throws IOException {
        String[] hosts =
                BLANK_LINE.split(Files.readString(Path.of("/proc/cpuinfo")).strip());
        var text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(NUMBER.matcher(hosts[i % hosts.length]).replaceFirst("$1 " + i))
                    .append("\n\n");
        }
        return text.toString();
    }
}
