package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/// Checks whether this machine has room for one more sandbox: a refusal before anything was taken is better than a
/// machine that kills running processes.
///
/// Limits of sandboxes may add up to more than there is, because most use little; only the free resources now count.
public final class HostCapacity {
    private static final long MIB = 1L << 20;

    /// Memory of a sandbox that has run its first programs.
    private static final long NEED = 64 * MIB;

    private static final Pattern LINE =
            Pattern.compile("(?m)^(MemTotal|MemAvailable|SwapTotal|SwapFree):\\s+(\\d+) kB");

    /// What holds memory that it can do without.
    public interface Relief {
        /// Frees some memory and a slot; takes a while.
        ///
        /// @return false when it has nothing to give
        boolean relieve();

        /// Bytes that look free, and are promised.
        long owed();
    }

    private static final Relief NONE = new Relief() {
        @Override
        public boolean relieve() {
            return false;
        }

        @Override
        public long owed() {
            return 0;
        }
    };

    private final Path stateDir;
    private final Path meminfo;
    private volatile Relief relief = NONE;

    /// Memory that is about to come back to sandboxes, in bytes. The kernel takes it for available.
    private final Map<SandboxId, LongSupplier> coming = new ConcurrentHashMap<>();

    public HostCapacity(Path stateDir) {
        this(stateDir, Path.of("/proc/meminfo"));
    }

    HostCapacity(Path stateDir, Path meminfo) {
        this.stateDir = stateDir;
        this.meminfo = meminfo;
    }

    /// From now on this gives way before a sandbox is refused.
    public void setRelief(Relief relief) {
        this.relief = relief;
    }

    /// Refuses with UNAVAILABLE when memory or the host's disk run out. Slots and the pool refuse for themselves.
    public void require() {
        requireMemory(NEED);
        requireDisk();
    }

    /// The memory of a sandbox is about to come back. Refuses with UNAVAILABLE where there is no room for all that is
    /// about to come.
    ///
    /// @param missing bytes that are still to come; asked again and again
    public void promise(SandboxId id, LongSupplier missing) {
        expect(id, missing);
        try {
            requireMemory(NEED);
        } catch (CayException e) {
            expectNoMore(id);
            throw e;
        }
    }

    /// The same without a refusal: it is coming already.
    public void expect(SandboxId id, LongSupplier missing) {
        coming.put(id, missing);
    }

    /// All that was expected is there, or does not come.
    public void expectNoMore(SandboxId id) {
        coming.remove(id);
    }

    /// Checks for this many bytes of memory alone.
    public void requireMemory(long need) {
        var memory = memory();
        while (memory.lacks(need)) {
            if (!relief.relieve()) {
                throw full("%d MB of memory are available and %d MB must be; kill sandboxes or add memory"
                        .formatted(Math.max(0, memory.available / MIB), memory.least(need) / MIB));
            }
            memory = memory();
        }
    }

    /// Whether the machine has no memory for another sandbox.
    public boolean isShort() {
        return memory().lacks(NEED);
    }

    /// Whether the machine has a swap.
    public boolean swaps() {
        return memory(0).swap > 0;
    }

    /// Bytes that may be pushed out to the swap: a quarter of it is left to others.
    public long swapRoom() {
        var memory = memory(0);
        return Math.max(0, memory.freeSwap - memory.swap / 4);
    }

    private record Memory(long total, long available, long swap, long freeSwap) {
        private long least(long need) {
            return need + Math.clamp(total / 20, 256 * MIB, 2048 * MIB);
        }

        private boolean lacks(long need) {
            return available < least(need);
        }
    }

    private Memory memory() {
        return memory(relief.owed());
    }

    /// @param owed bytes that are not available although they look free
    private Memory memory(long owed) {
        long total = 0;
        long available = Long.MAX_VALUE;
        long swap = 0;
        long freeSwap = 0;
        long expected =
                coming.values().stream().mapToLong(LongSupplier::getAsLong).sum();
        var lines = LINE.matcher(text(meminfo));
        while (lines.find()) {
            long bytes = Long.parseLong(lines.group(2)) * 1024;
            switch (lines.group(1)) {
                case "MemTotal" -> total = bytes;
                case "MemAvailable" -> available = bytes - owed - expected;
                case "SwapTotal" -> swap = bytes;
                default -> freeSwap = bytes;
            }
        }
        return new Memory(total, available, swap, freeSwap);
    }

    /// Checks the disk. Uses `java.io.File`, which asks the kernel directly; the newer class reads the list of mounts
    /// each time.
    private void requireDisk() {
        var disk = stateDir.toFile();
        long free = disk.getUsableSpace();
        long least = Math.min(512 * MIB, disk.getTotalSpace() / 20);
        if (free < least) {
            throw full("%d MB are free on the disk of %s and %d MB must be; free space there"
                    .formatted(free / MIB, stateDir, least / MIB));
        }
    }

    private static CayException full(String why) {
        return new CayException(ErrorKind.UNAVAILABLE, "this machine has no room for another sandbox: " + why);
    }

    /// Reads a file at once, because these files have no size.
    private static String text(Path file) {
        try (var in = Files.newInputStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException _) {
            return "";
        }
    }
}
