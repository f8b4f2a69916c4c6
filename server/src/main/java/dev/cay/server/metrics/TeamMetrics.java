package dev.cay.server.metrics;

import dev.cay.server.event.EventCounts;
import dev.cay.server.ring.RingFile;
import dev.cay.server.ring.RingLimits;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxState;
import dev.cay.wire.TeamId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The number of running sandboxes of each team and its rate of starts, for a week.
///
/// A row is written after a change, and otherwise once a minute: inactive teams cost nothing.
public final class TeamMetrics implements AutoCloseable {
    static final Duration KEPT = Duration.ofDays(7);
    private static final RingLimits LIMITS = new RingLimits(1024, 32L << 20, 4 << 20, KEPT);
    private static final int COLUMNS = 3;
    private static final long QUIET = 60;
    private static final double THOUSANDTHS = 1000.0;

    /// A metric, with the column that has it.
    enum Metric {
        CONCURRENT_SANDBOXES(1),
        SANDBOX_START_RATE(2);

        private final int column;

        Metric(int column) {
            this.column = column;
        }

        double of(long[] row) {
            return this == SANDBOX_START_RATE ? row[column] / THOUSANDTHS : row[column];
        }
    }

    private final SandboxDirectory directory;
    private final EventCounts events;
    private final InstantSource clock;
    private final Series series;
    private final Map<TeamId, long[]> last = new HashMap<>();
    private Instant since;
    private Map<TeamId, Long> counted = Map.of();

    public TeamMetrics(Path file, SandboxDirectory directory, EventCounts events, InstantSource clock) {
        this.directory = directory;
        this.events = events;
        this.clock = clock;
        this.series = new Series(new RingFile(file, LIMITS, clock), COLUMNS);
        this.since = clock.instant();
    }

    /// Called by one thread.
    void sample() {
        Instant now = clock.instant();
        double seconds = Math.max(1, Duration.between(since, now).toMillis() / THOUSANDTHS);
        Map<TeamId, Long> running = directory.list().stream()
                .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                .collect(Collectors.groupingBy(sandbox -> sandbox.teamId(), Collectors.counting()));
        var before = counted;
        counted = events.starts();
        since = now;
        var teams = new HashSet<>(running.keySet());
        teams.addAll(counted.keySet());
        teams.addAll(last.keySet());
        for (TeamId team : teams) {
            long started = counted.getOrDefault(team, 0L) - before.getOrDefault(team, 0L);
            long rate = Math.round(started / seconds * THOUSANDTHS);
            note(team, new long[] {now.getEpochSecond(), running.getOrDefault(team, 0L), rate});
        }
    }

    /// Oldest first.
    List<long[]> of(TeamId team, long start, long end) {
        long oldest = clock.instant().minus(KEPT).getEpochSecond();
        return Downsampling.highest(series.rows(team.value(), Math.max(start, oldest), end));
    }

    @Override
    public void close() {
        series.close();
    }

    /// After a quiet time, writes the old row once more, so that a line between two rows is right.
    private void note(TeamId team, long[] row) {
        long[] old = last.get(team);
        if (old != null) {
            boolean same = old[1] == row[1] && old[2] == row[2];
            if (same && (row[0] - old[0] < QUIET || row[1] == 0)) {
                return;
            }
            if (!same && row[0] - old[0] > 2) {
                series.add(Map.of(team.value(), new long[] {row[0] - 1, old[1], old[2]}));
            }
        }
        series.add(Map.of(team.value(), row));
        last.put(team, row);
    }
}
