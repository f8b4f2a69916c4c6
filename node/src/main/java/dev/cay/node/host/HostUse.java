package dev.cay.node.host;

import com.sun.management.OperatingSystemMXBean;
import dev.cay.metrics.Meters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/// What the whole machine has and uses, with all that runs on it beside Cay.
public final class HostUse {
    private static final Path MEMORY = Path.of("/proc/meminfo");

    private HostUse() {}

    public static void addTo(Meters meters) {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        // Each reading is about the time since the one before.
        double _ = system.getCpuLoad();
        meters.gauge("cay_host_cpus", "Processors of the machine", system::getAvailableProcessors);
        meters.gauge("cay_host_cpu_used", "Part of its processors that is busy, from 0 to 1", system::getCpuLoad);
        meters.gauge("cay_host_memory_bytes", "Memory of the machine", () -> bytes("MemTotal:"));
        meters.gauge(
                "cay_host_memory_available_bytes",
                "Memory that programs can have without swapping",
                () -> bytes("MemAvailable:"));
    }

    private static double bytes(String name) {
        try (var lines = Files.lines(MEMORY)) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToDouble(line -> Double.parseDouble(line.split("\\s+")[1]) * 1024)
                    .findFirst()
                    .orElse(Double.NaN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
