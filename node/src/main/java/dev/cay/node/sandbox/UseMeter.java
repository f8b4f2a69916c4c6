package dev.cay.node.sandbox;

import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.SandboxLog;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.Usage;
import dev.cay.node.storage.Pool;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.Resources;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads what a sandbox uses. CPU is a rate, so it is measured from one reading to the next, and the first one since
/// the sandbox began. Reading files is done by platform threads only. Thread-safe.
final class UseMeter {
    private static final Logger daemonLog = LoggerFactory.getLogger(UseMeter.class);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration SHORTEST = Duration.ofMillis(200);
    private static final long MB = 1 << 20;

    private final Container container;
    private final Resources resources;
    private final ContainerRuntime runtime;
    private final Pool pool;
    private final HostThreads files;
    private final SandboxLog log;
    private final InstantSource clock;

    private @Nullable Instant since;
    private Duration cpuTime = Duration.ZERO;
    private double cpuPercent;
    private long oomKills;
    private Map<String, Long> serverKills;

    /// @param files threads that read
    UseMeter(Container container, Resources resources, HostParts host, HostThreads files, SandboxLog log) {
        this.container = container;
        this.resources = resources;
        this.runtime = host.runtime();
        this.pool = host.pool();
        this.files = files;
        this.log = log;
        this.clock = host.clock();
        this.oomKills = runtime.memoryKills(container.id());
        this.serverKills = runtime.serverMemoryKills(container.id());
    }

    /// Measures on one of the threads that read files.
    ResourceUse read() {
        try {
            return files.call(LIMIT, () -> read(pool.used(container.id())));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "what the sandbox uses cannot be read now", e);
        }
    }

    /// Measures. Call this on a platform thread.
    ///
    /// @param diskUsed is passed in, because it is read for all sandboxes at once
    ResourceUse read(long diskUsed) {
        Usage usage = runtime.usage(container);
        tellOfKills(usage.oomKills());
        tellOfServers(runtime.serverMemoryKills(container.id()));
        return new ResourceUse(
                clock.instant(),
                resources.cpuCount(),
                rate(usage.cpuTime()),
                usage.memory(),
                resources.memoryMB() * MB,
                usage.cache(),
                diskUsed,
                resources.diskSizeMB() * MB);
    }

    /// The CPU use in percent of all its CPUs. Two readers close together share one value: over a few milliseconds it
    /// would mean nothing.
    private synchronized double rate(Duration total) {
        Instant now = clock.instant();
        if (since == null) {
            since = began(now);
        }
        Duration passed = Duration.between(since, now);
        if (passed.compareTo(SHORTEST) >= 0) {
            double share = (double) total.minus(cpuTime).toNanos() / passed.toNanos() / resources.cpuCount();
            cpuPercent = Math.clamp(100 * share, 0, 100);
            cpuTime = total;
            since = now;
        }
        return cpuPercent;
    }

    /// When the sandbox's first process started; a daemon that adopted it may be younger.
    private Instant began(Instant now) {
        return ProcessHandle.of(container.pid())
                .flatMap(process -> process.info().startInstant())
                .filter(start -> start.isBefore(now))
                .orElse(now.minus(SHORTEST));
    }

    /// The number of its processes that the kernel has killed for lack of memory; logs new ones.
    long memoryKills() {
        long kills = runtime.memoryKills(container.id());
        tellOfKills(kills);
        return kills;
    }

    private void tellOfKills(long kills) {
        long more;
        synchronized (this) {
            more = kills - oomKills;
            oomKills = kills;
        }
        if (more > 0) {
            daemonLog
                    .atWarn()
                    .addKeyValue("sandbox", container.id())
                    .addKeyValue("memoryMB", resources.memoryMB())
                    .addKeyValue("killed", more)
                    .log("out of memory: the kernel killed processes of a sandbox");
            log.warn(
                    "sandbox",
                    "Out of memory: the kernel killed %d of its processes".formatted(more),
                    Map.of("event_type", "oom", "memory_mb", Integer.toString(resources.memoryMB())));
        }
    }

    /// Servers come and go, each with a count of its own.
    private void tellOfServers(Map<String, Long> kills) {
        long more;
        synchronized (this) {
            var before = serverKills;
            more = kills.entrySet().stream()
                    .mapToLong(server -> Math.max(0, server.getValue() - before.getOrDefault(server.getKey(), 0L)))
                    .sum();
            serverKills = kills;
        }
        if (more > 0) {
            daemonLog
                    .atWarn()
                    .addKeyValue("sandbox", container.id())
                    .addKeyValue("killed", more)
                    .log("out of memory: the kernel killed processes of a sandbox's MCP servers");
            log.warn(
                    "sandbox",
                    "Out of memory: the kernel killed %d processes of its MCP servers, which together may use mcp.memoryMB"
                            .formatted(more),
                    Map.of("event_type", "oom"));
        }
    }
}
