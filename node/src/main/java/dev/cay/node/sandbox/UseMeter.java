package dev.cay.node.sandbox;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.Usage;
import dev.cay.node.storage.Pool;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.Resources;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// Reads what a sandbox uses. CPU is a rate, so it is measured from one reading to the next. Thread-safe.
final class UseMeter {
    private static final Duration SHORTEST = Duration.ofMillis(200);
    private static final long MB = 1 << 20;

    private final Container container;
    private final Resources resources;
    private final ContainerRuntime runtime;
    private final Pool pool;
    private final InstantSource clock;

    private Instant since;
    private Duration cpuTime = Duration.ZERO;
    private double cpuPercent;

    UseMeter(Container container, Resources resources, ContainerRuntime runtime, Pool pool, InstantSource clock) {
        this.container = container;
        this.resources = resources;
        this.runtime = runtime;
        this.pool = pool;
        this.clock = clock;
        this.since = clock.instant();
    }

    ResourceUse read() {
        Usage usage = runtime.usage(container);
        return new ResourceUse(
                clock.instant(),
                resources.cpuCount(),
                rate(usage.cpuTime()),
                usage.memory(),
                resources.memoryMB() * MB,
                usage.cache(),
                pool.used(container.id()),
                resources.diskSizeMB() * MB);
    }

    /// Two readers close together share one rate: over a few milliseconds it would say nothing.
    private synchronized double rate(Duration total) {
        Instant now = clock.instant();
        Duration passed = Duration.between(since, now);
        if (passed.compareTo(SHORTEST) >= 0) {
            cpuPercent = 100.0 * total.minus(cpuTime).toNanos() / passed.toNanos();
            cpuTime = total;
            since = now;
        }
        return cpuPercent;
    }
}
