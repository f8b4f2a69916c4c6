package dev.cay.server.metrics;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Timing;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.ring.RingFile;
import dev.cay.server.ring.RingLimits;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxState;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.rest.SandboxMetric;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The resource use of sandboxes for a day, also of ended ones.
///
/// All are measured in one call, and each measurement is one short row in a file of fixed size: a day of a thousand
/// busy sandboxes fits. With more, the oldest rows are overwritten.
public final class SandboxMetrics implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SandboxMetrics.class);
    private static final Duration KEPT = Duration.ofDays(1);
    private static final RingLimits LIMITS = new RingLimits(1024, 192L << 20, 512 << 10, KEPT);
    private static final RingLimits NETWORK_LIMITS = new RingLimits(1024, 96L << 20, 512 << 10, KEPT);
    private static final int COLUMNS = 5;
    private static final int NETWORK_COLUMNS = 3;
    private static final long PAGE = 4096;
    private static final double HUNDREDTHS = 100.0;
    private static final long MB = 1 << 20;

    private final SandboxDirectory directory;
    private final Fleet fleet;
    private final InstantSource clock;
    private final Series series;
    /// In a file of its own, as an older Cay reads the other one too.
    private final Series network;
    private final Timing took;
    private final Map<SandboxId, long[]> newest = new ConcurrentHashMap<>();

    /// @param records directory of the files
    public SandboxMetrics(Path records, SandboxDirectory directory, Fleet fleet, InstantSource clock, Meters meters) {
        this.directory = directory;
        this.fleet = fleet;
        this.clock = clock;
        this.series = new Series(new RingFile(records.resolve("sandbox-metrics.ring"), LIMITS, clock), COLUMNS);
        this.network = new Series(
                new RingFile(records.resolve("sandbox-network.ring"), NETWORK_LIMITS, clock), NETWORK_COLUMNS);
        this.took = meters.timing("cay_sampling_seconds", "Reading what all running sandboxes use");
        meters.gauge(
                "cay_metrics_dropped",
                "Rows of sandbox metrics that were not kept",
                () -> series.dropped() + network.dropped());
    }

    /// Measures each running sandbox, and forgets ended ones.
    void sample() {
        long began = System.nanoTime();
        var rows = new HashMap<String, long[]>();
        fleet.node().measureAll().forEach((id, use) -> {
            if (directory.find(id).filter(SandboxMetrics::running).isPresent()) {
                newest.put(id, row(use));
                rows.put(id.value(), row(use));
            }
        });
        add(rows);
        newest.keySet().removeIf(id -> {
            boolean gone = directory.find(id).isEmpty();
            if (gone) {
                series.forget(id.value());
                network.forget(id.value());
            }
            return gone;
        });
        took.since(began);
    }

    /// Measurements between these seconds, inclusive, oldest first; a long range is reduced to maxima of intervals.
    ///
    /// The first measurement of a new sandbox is taken on request, so that nobody waits for the next round.
    List<SandboxMetric> of(SandboxRecord sandbox, long start, long end) {
        long now = clock.instant().getEpochSecond();
        long from = Math.max(start, now - KEPT.toSeconds());
        var rows = rows(sandbox.id().value(), from, end);
        if (rows.isEmpty() && !newest.containsKey(sandbox.id())) {
            rows = measure(sandbox).filter(row -> row[0] >= from && row[0] <= end).stream()
                    .toList();
        }
        return Downsampling.highest(rows).stream()
                .map(row -> metric(sandbox, row))
                .toList();
    }

    /// The newest reading of one that runs.
    Optional<SandboxMetric> newest(SandboxRecord sandbox) {
        return Optional.ofNullable(newest.get(sandbox.id()))
                .filter(_ -> running(sandbox))
                .or(() -> measure(sandbox))
                .map(row -> metric(sandbox, row));
    }

    @Override
    public void close() {
        series.close();
        network.close();
    }

    private void add(Map<String, long[]> rows) {
        series.add(rows);
        var traffic = new HashMap<String, long[]>();
        rows.forEach((id, row) -> traffic.put(id, new long[] {row[0], row[COLUMNS], row[COLUMNS + 1]}));
        network.add(traffic);
    }

    /// Rows of both files; what an older Cay measured has no traffic.
    private List<long[]> rows(String id, long from, long to) {
        var traffic = network.rows(id, from, to).stream()
                .collect(Collectors.toMap(row -> row[0], row -> row, (_, later) -> later));
        return series.rows(id, from, to).stream()
                .map(row -> {
                    long[] whole = Arrays.copyOf(row, COLUMNS + NETWORK_COLUMNS - 1);
                    long[] seen = traffic.get(row[0]);
                    if (seen != null) {
                        System.arraycopy(seen, 1, whole, COLUMNS, NETWORK_COLUMNS - 1);
                    }
                    return whole;
                })
                .toList();
    }

    private Optional<long[]> measure(SandboxRecord sandbox) {
        if (!running(sandbox)) {
            return Optional.empty();
        }
        try {
            long[] row = row(fleet.node().measure(sandbox.id()));
            newest.put(sandbox.id(), row);
            add(Map.of(sandbox.id().value(), row));
            return Optional.of(row);
        } catch (RuntimeException e) {
            // The sandbox may just have ended.
            log.atDebug()
                    .setCause(e)
                    .addKeyValue("sandbox", sandbox.id())
                    .log("the resource use of a sandbox could not be measured");
            return Optional.empty();
        }
    }

    private static boolean running(SandboxRecord sandbox) {
        return sandbox.state() == SandboxState.RUNNING;
    }

    private static long[] row(ResourceUse use) {
        return new long[] {
            use.at().getEpochSecond(),
            Math.round(use.cpuPercent() * HUNDREDTHS),
            pages(use.memoryUsed()),
            pages(use.memoryCache()),
            pages(use.diskUsed()),
            use.networkIn(),
            use.networkOut()
        };
    }

    private static long pages(long bytes) {
        return (bytes + PAGE - 1) / PAGE;
    }

    private static SandboxMetric metric(SandboxRecord sandbox, long[] row) {
        return new SandboxMetric(
                Instant.ofEpochSecond(row[0]),
                row[0],
                sandbox.resources().cpuCount(),
                row[1] / HUNDREDTHS,
                row[2] * PAGE,
                sandbox.resources().memoryMB() * MB,
                row[3] * PAGE,
                row[4] * PAGE,
                sandbox.resources().diskSizeMB() * MB,
                row[COLUMNS],
                row[COLUMNS + 1]);
    }
}
