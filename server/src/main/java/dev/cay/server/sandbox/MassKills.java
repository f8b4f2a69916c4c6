package dev.cay.server.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Remembers how often all sandboxes of a team were ended together, so that a create that began before such a moment
/// does not go on after it. Thread-safe.
public final class MassKills {
    private final Map<TeamId, Long> counts = new ConcurrentHashMap<>();

    /// The time between two of these moments of a team.
    public record Period(TeamId team, long count) {}

    Period now(TeamId team) {
        return new Period(team, counts.getOrDefault(team, 0L));
    }

    /// From here on, creates that began before do not go on.
    void begin(TeamId team) {
        counts.merge(team, 1L, Long::sum);
    }

    boolean isOver(Period period) {
        return !now(period.team()).equals(period);
    }

    static CayException refusal() {
        return new CayException(
                ErrorKind.CONFLICT, "all sandboxes of the team were ended while this one was being made");
    }
}
