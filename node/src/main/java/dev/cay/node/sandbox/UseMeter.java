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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads what a sandbox uses. CPU and network are rates, so they are measured from one reading to the next, and the
/// first one since the sandbox began. Reading files is done by platform threads only. Thread-safe.
final class UseMeter {
    private static final Logger daemonLog = LoggerFactory.getLogger(UseMeter.class);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration SHORTEST = Duration.ofMillis(200);
    private static final long MB = 1 << 20;

    private static final Path LINKS = Path.of("/sys/class/net");

    private final Container container;
    private final Path link;
    private final Resources resources;
    private final ContainerRuntime runtime;
    private final Pool pool;
    private final HostThreads files;
    private final SandboxLog log;
    private final InstantSource clock;

    private @Nullable Instant since;
    private Duration cpuTime = Duration.ZERO;
    private long received;
    private long sent;
    private Rates rates = new Rates(0, 0, 0);
    private long oomKills;
    private Map<String, Long> serverKills;

    /// What is measured from one reading to the next; bytes a second.
    private record Rates(double cpuPercent, long in, long out) {}

    /// @param veth  name of the host's end of its link
    /// @param files threads that read
    UseMeter(Container container, String veth, Resources resources, HostParts host, HostThreads files, SandboxLog log) {
        this.container = container;
        this.link = LINKS.resolve(veth).resolve("statistics");
        this.resources = resources;
        this.runtime = host.runtime();
        this.pool = host.pool();
        this.files = files;
        this.log = log;
        this.clock = host.clock();
        this.oomKills = runtime.memoryKills(container.id());
        this.serverKills = runtime.serverMemoryKills(container.id());
    }

    /// Ports of TCP on which a process inside listens, in order.
    List<Integer> listening() {
        try {
            return files.call(LIMIT, () -> ListeningPorts.of(container.pid()));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the ports of the sandbox cannot be read now", e);
        }
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
        // What the sandbox sends, the host's end of the link receives.
        var now = rates(usage.cpuTime(), counter("tx_bytes"), counter("rx_bytes"));
        return new ResourceUse(
                clock.instant(),
                resources.cpuCount(),
                now.cpuPercent(),
                usage.memory(),
                resources.memoryMB() * MB,
                usage.cache(),
                diskUsed,
                resources.diskSizeMB() * MB,
                now.in(),
                now.out());
    }

    /// Two readers close together share the rates: over a few milliseconds they would mean nothing.
    private synchronized Rates rates(Duration cpuTotal, long in, long out) {
        Instant now = clock.instant();
        if (since == null) {
            since = began(now);
        }
        Duration passed = Duration.between(since, now);
        if (passed.compareTo(SHORTEST) >= 0) {
            double seconds = passed.toNanos() / 1e9;
            double share = cpuTotal.minus(cpuTime).toNanos() / 1e9 / seconds / resources.cpuCount();
            rates = new Rates(
                    Math.clamp(100 * share, 0, 100),
                    Math.max(0, Math.round((in - received) / seconds)),
                    Math.max(0, Math.round((out - sent) / seconds)));
            cpuTime = cpuTotal;
            received = in;
            sent = out;
            since = now;
        }
        return rates;
    }

    /// A counter of the link; 0 once the link is gone.
    private long counter(String name) {
        try {
            return Long.parseLong(Files.readString(link.resolve(name)).strip());
        } catch (IOException _) {
            return 0;
        }
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
