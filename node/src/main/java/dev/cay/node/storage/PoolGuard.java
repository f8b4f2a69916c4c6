package dev.cay.node.storage;

import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Stops sandboxes from filling the pool, because the sum of their limits may exceed it.
///
/// When the pool is nearly full, the sandboxes that use most of it cannot write more (EDQUOT); when it continues to
/// fill, none can. They get their limits back when there is space again. A thread of its own checks the free space,
/// more often when there is less.
public final class PoolGuard implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PoolGuard.class);
    private static final Duration LONGEST = Duration.ofSeconds(1);
    private static final Duration SHORTEST = Duration.ofMillis(20);
    private static final Duration AGAIN = Duration.ofSeconds(5);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    /// Bytes that sandboxes write in a millisecond at most, all together.
    private static final long PACE = 4L << 20;

    /// How much each may write while the guard finds out which sandboxes have written.
    private static final long MEANWHILE = 64L << 20;

    private static final long CHANGE = 64L << 20;

    /// Receives each sandbox that cannot write more.
    public interface Listener {
        void stopped(SandboxId id, long used);
    }

    private final Pool pool;
    private final Supplier<Map<SandboxId, Long>> limits;
    private final Listener listener;
    private final Thread thread;
    private final Set<SandboxId> stopped = new HashSet<>();

    /// The limits that this daemon has set.
    private final Map<SandboxId, Long> set = new HashMap<>();

    private long lastFree;
    private long triedAt = System.nanoTime() - AGAIN.toNanos();
    private volatile boolean closed;

    /// @param limits the bytes that each running sandbox may use when there is space; they may change at any time
    public PoolGuard(Pool pool, Supplier<Map<SandboxId, Long>> limits, Listener listener) {
        this.pool = pool;
        this.limits = limits;
        this.listener = listener;
        this.thread = Thread.ofPlatform().daemon().name("pool-guard").unstarted(this::watch);
    }

    /// Raises limits that an earlier daemon may have lowered, and starts the checks.
    public void start() {
        if (pool.limited()) {
            pool.volumes().release(true);
            limits.get().forEach(this::limit);
            thread.start();
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            // Where the pool has no limits the thread was never started, and cannot be waited for.
            boolean _ = !thread.isAlive() || thread.join(STOP_LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        try {
            while (!closed) {
                Thread.sleep(attempt());
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private Duration attempt() {
        try {
            return look();
        } catch (RuntimeException e) {
            if (!closed) {
                log.atWarn().setCause(e).log("a check of the pool failed");
            }
            return LONGEST;
        }
    }

    /// @return when to check again
    private Duration look() {
        giveMetadataItsShare();
        long reserve = pool.space().reserve();
        long spare = pool.space().spare();
        if (spare < reserve) {
            pool.volumes().stop();
        }
        if (spare < reserve / 2) {
            stopAll();
        } else if (spare < reserve && stopped.isEmpty()) {
            stopLargest();
        } else if (spare > reserve + reserve / 4) {
            release(Set.copyOf(stopped));
            pool.volumes().release(false);
        }
        followLimits();
        var time = Duration.ofMillis(Math.max(0, spare - reserve) / PACE);
        return time.compareTo(SHORTEST) < 0 ? SHORTEST : time.compareTo(LONGEST) > 0 ? LONGEST : time;
    }

    /// Makes btrfs allocate chunks for metadata. While one large file is written the pool has few other changes, so
    /// data could take every chunk.
    private void giveMetadataItsShare() {
        long free = pool.free();
        if (Math.abs(free - lastFree) > CHANGE) {
            lastFree = free;
            pool.space().touch();
        }
        if (pool.space().lacksMetadata() && System.nanoTime() - triedAt > AGAIN.toNanos()) {
            triedAt = System.nanoTime();
            try {
                pool.space().makeRoomForMetadata();
                pool.space().touch();
            } catch (CayException e) {
                log.atDebug().setCause(e).log("no chunk of the pool can be emptied for metadata now");
            }
        }
    }

    private void stopAll() {
        var others = new HashSet<>(limits.get().keySet());
        others.removeAll(stopped);
        if (others.isEmpty()) {
            return;
        }
        var before = pool.used();
        others.forEach(id -> limit(id, least(before, id)));
        pool.sync();
        var used = pool.used();
        others.forEach(id -> stop(id, least(used, id)));
    }

    private static long least(Map<SandboxId, Long> used, SandboxId id) {
        return Math.max(1, used.getOrDefault(id, 0L));
    }

    /// Stops the largest writers. The use of a sandbox is known as of the last commit of the file system, up to half a
    /// minute ago. So the guard first lowers all limits, then syncs, and then chooses.
    private void stopLargest() {
        var running = limits.get();
        var before = pool.used();
        running.forEach((id, limit) -> limit(id, Math.min(limit, least(before, id) + MEANWHILE)));
        pool.sync();
        var used = new HashMap<>(pool.used());
        used.keySet().retainAll(running.keySet());
        long most = used.isEmpty() ? 0 : Collections.max(used.values());
        running.forEach((id, limit) -> {
            if (least(used, id) >= most / 2) {
                stop(id, least(used, id));
            } else {
                limit(id, limit);
            }
        });
    }

    private void stop(SandboxId id, long used) {
        limit(id, used);
        if (stopped.add(id)) {
            log.atWarn()
                    .addKeyValue("sandbox", id)
                    .addKeyValue("usedMB", used >> 20)
                    .addKeyValue("freeMB", pool.free() >> 20)
                    .log("the pool is nearly full: a sandbox cannot write more until some of it is freed");
            listener.stopped(id, used);
        }
    }

    private void release(Set<SandboxId> ids) {
        var running = limits.get();
        running.forEach((id, limit) -> {
            if (ids.contains(id)) {
                limit(id, limit);
            }
        });
        stopped.removeAll(ids);
    }

    /// Sets limits that have changed since the last check, except for sandboxes that may not write at all.
    private void followLimits() {
        var now = limits.get();
        set.keySet().retainAll(now.keySet());
        now.forEach((id, bytes) -> {
            if (!stopped.contains(id) && !bytes.equals(set.put(id, bytes))) {
                limit(id, bytes);
            }
        });
    }

    private void limit(SandboxId id, long bytes) {
        try {
            pool.limit(id, bytes);
        } catch (RuntimeException e) {
            log.atDebug().setCause(e).addKeyValue("sandbox", id).log("a sandbox ended before its limit was changed");
        }
    }
}
