package dev.cay.node.sandbox;

import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.LogHub;
import dev.cay.node.storage.Pool;
import dev.cay.node.storage.PoolGuard;
import dev.cay.node.storage.ShareLimits;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.DiskShare;
import dev.cay.wire.node.ResourceUse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Measures all sandboxes, and keeps room in the pool so that they can be paused.
final class PoolUse implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PoolUse.class);
    private static final Duration MEASURE_LIMIT = Duration.ofSeconds(30);
    private static final Duration HOLD_LIMIT = Duration.ofSeconds(30);

    private final Pool pool;
    private final HostThreads fileWork;
    private final LogHub logs;
    private final Supplier<Stream<SandboxKeeper>> writers;
    private final SavedParts saved;
    private final PoolGuard guard;
    private volatile Map<SandboxId, ResourceUse> latest = Map.of();
    private volatile Map<SandboxId, Long> shared = Map.of();

    /// @param writers all sandboxes that can write into the pool
    /// @param saved   all snapshots, also those of paused sandboxes
    PoolUse(Pool pool, HostThreads fileWork, LogHub logs, Supplier<Stream<SandboxKeeper>> writers, SavedParts saved) {
        this.pool = pool;
        this.fileWork = fileWork;
        this.logs = logs;
        this.writers = writers;
        this.saved = saved;
        this.guard = new PoolGuard(pool, this::limits, this::tell);
    }

    void start() {
        guard.start();
    }

    @Override
    public void close() {
        guard.close();
    }

    /// Measures one sandbox after the other on one thread: a thousand take some tens of milliseconds.
    Map<SandboxId, ResourceUse> measureAll(Collection<SandboxKeeper> keepers) {
        if (keepers.isEmpty()) {
            latest = Map.of();
            return Map.of();
        }
        try {
            var uses = fileWork.call(MEASURE_LIMIT, () -> readAll(pool, keepers));
            latest = uses;
            return uses;
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "what sandboxes use cannot be read now", e);
        }
    }

    /// Reserves the memory that these sandboxes used recently, plus a tenth. Reserving all that they may use would be
    /// too much.
    void keepRoomFor(Set<SandboxId> toBeSaved) {
        var bytes = new HashMap<SandboxId, Long>();
        latest.forEach((id, use) -> {
            if (toBeSaved.contains(id)) {
                bytes.put(id, use.memoryUsed() + use.memoryUsed() / 10);
            }
        });
        // These were told of before they were frozen.
        saved.frozen().unsaved().forEach((id, memory) -> bytes.put(id, memory + memory / 10));
        try {
            fileWork.call(HOLD_LIMIT, () -> {
                pool.holdBack(bytes);
                return true;
            });
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "disk space for pauses cannot be reserved now", e);
        }
    }

    /// Holds sandboxes to what each of these shares allows them together.
    ///
    /// @return bytes that each holds now
    List<Long> shareDisk(List<DiskShare> shares) {
        if (shares.isEmpty()) {
            shared = Map.of();
            return List.of();
        }
        try {
            return fileWork.call(MEASURE_LIMIT, () -> divide(shares));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "what sandboxes hold cannot be read now", e);
        }
    }

    private List<Long> divide(List<DiskShare> shares) {
        var used = new HashMap<>(pool.used());
        var sizes = saved.store().sizes();
        // One that is saved and still frozen holds its files once.
        used.keySet().removeIf(id -> saved.frozen().isSaved(id));
        var divided = ShareLimits.divide(shares, used, sizes, ownLimits());
        shared = divided.limits();
        return divided.held();
    }

    /// The disk limit of each sandbox if the pool has room.
    private Map<SandboxId, Long> limits() {
        var limits = ownLimits();
        shared.forEach((id, bytes) -> limits.computeIfPresent(id, (_, own) -> Math.min(own, bytes)));
        return limits;
    }

    private Map<SandboxId, Long> ownLimits() {
        var limits = new HashMap<SandboxId, Long>();
        writers.get()
                .filter(keeper -> keeper.isThere() && !keeper.isPaused())
                .forEach(keeper ->
                        limits.put(keeper.id(), (long) keeper.resources().diskSizeMB() << 20));
        return limits;
    }

    private void tell(SandboxId id, long used) {
        logs.of(id)
                .warn(
                        "sandbox",
                        "The machine's disk is nearly full: this sandbox holds %d MB of it and cannot write more until some of the disk is freed"
                                .formatted(used >> 20),
                        Map.of("event_type", "disk_full"));
    }

    /// Measures all open sandboxes, one after the other.
    private static Map<SandboxId, ResourceUse> readAll(Pool pool, Collection<SandboxKeeper> keepers) {
        var disks = pool.used();
        var found = new HashMap<SandboxId, ResourceUse>();
        for (var keeper : keepers) {
            if (!keeper.isThere()) {
                continue;
            }
            try {
                keeper.measure(disks.getOrDefault(keeper.id(), 0L)).ifPresent(use -> found.put(keeper.id(), use));
            } catch (RuntimeException e) {
                // The sandbox just ended; if not, the next measurement is seconds away.
                log.atDebug()
                        .setCause(e)
                        .addKeyValue("sandbox", keeper.id())
                        .log("the resource use of a sandbox could not be measured");
            }
        }
        return found;
    }
}
