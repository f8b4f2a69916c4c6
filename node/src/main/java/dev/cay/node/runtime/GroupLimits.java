package dev.cay.node.runtime;

import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/// What all processes of a cgroup and of those below it may use together.
///
/// @param memoryMB swap is in it
record GroupLimits(int cpuCount, int memoryMB, int processes) {
    static final int CPU_PERIOD = 100_000;

    /// All that must be there for the limits to hold.
    static final List<String> CONTROLLERS = List.of("memory", "cpu", "pids");

    static GroupLimits of(Resources resources, int processes) {
        return new GroupLimits(resources.cpuCount(), resources.memoryMB(), processes);
    }

    /// These and others together; processors are shared.
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

    /// Memory alone may never be allowed more than memory and swap together, so a higher limit begins with these.
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

    /// A file that is not there is an error: what is not limited must not start.
    private static void set(Path directory, String name, Object value) throws IOException {
        Files.writeString(
                directory.resolve(name),
                value.toString(),
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
    }
}
