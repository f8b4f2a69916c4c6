package dev.cay.node.runtime;

import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/// Limits for all processes of a cgroup and of those below it together.
///
/// @param memoryMB memory and swap together
record GroupLimits(int cpuCount, int memoryMB, int processes) {
    static final int CPU_PERIOD = 100_000;

    /// The controllers that the limits need.
    static final List<String> CONTROLLERS = List.of("memory", "cpu", "pids");

    static GroupLimits of(Resources resources, int processes) {
        return new GroupLimits(resources.cpuCount(), resources.memoryMB(), processes);
    }

    /// These limits plus more memory and processes; processors are shared.
    GroupLimits and(int moreMemoryMB, int moreProcesses) {
        return new GroupLimits(cpuCount, memoryMB + moreMemoryMB, processes + moreProcesses);
    }

    /// @param directory of a controller's hierarchy
    /// @param old       controllers that are in hierarchies of the old kind
    /// @param swap      whether memory and swap can be limited together
    /// @param sockets   whether what sockets hold needs a limit of its own
    void write(Function<String, Path> directory, Set<String> old, boolean swap, boolean sockets) throws IOException {
        Path memory = directory.apply("memory");
        if (old.contains("memory")) {
            writeOldMemory(memory, swap, sockets);
        } else {
            set(memory, "memory.max", bytes());
            if (Files.exists(memory.resolve("memory.swap.max"))) {
                set(memory, "memory.swap.max", 0);
            }
        }
        Path cpu = directory.apply("cpu");
        long quota = (long) cpuCount * CPU_PERIOD;
        if (old.contains("cpu")) {
            set(cpu, "cpu.cfs_period_us", CPU_PERIOD);
            set(cpu, "cpu.cfs_quota_us", quota);
        } else {
            set(cpu, "cpu.max", quota + " " + CPU_PERIOD);
        }
        set(directory.apply("pids"), "pids.max", processes);
    }

    private long bytes() {
        return (long) memoryMB << 20;
    }

    /// Writes version 1 limits. The limit of memory may never exceed that of memory and swap together, so a raise
    /// begins with the latter.
    private void writeOldMemory(Path memory, boolean swap, boolean sockets) throws IOException {
        String both = "memory.memsw.limit_in_bytes";
        if (swap && StatFile.read(memory.resolve(both)).number() < bytes()) {
            set(memory, both, bytes());
        }
        set(memory, "memory.limit_in_bytes", bytes());
        if (swap) {
            set(memory, both, bytes());
        }
        if (sockets) {
            set(memory, "memory.kmem.tcp.limit_in_bytes", bytes() / 4);
        }
    }

    /// Writes a limit. A missing file is an error, because no sandbox may start without its limits.
    private static void set(Path directory, String name, Object value) throws IOException {
        Files.writeString(
                directory.resolve(name),
                value.toString(),
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
    }
}
