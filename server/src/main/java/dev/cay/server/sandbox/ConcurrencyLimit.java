package dev.cay.server.sandbox;

import dev.cay.life.FairTurns;
import dev.cay.wire.TeamId;
import java.time.Duration;

/// Lets so many run at once and makes the others wait, in turns of their teams: a hundred starts at once finish sooner
/// one after the other than all together, and so do a hundred pauses, which all want the same disk. Thread-safe.
public final class ConcurrencyLimit {
    /// Most queued operations of one team, because each costs memory.
    private static final int MOST_WAITING = 1000;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final FairTurns turns;

    private ConcurrencyLimit(FairTurns turns) {
        this.turns = turns;
    }

    /// The limit of starts and resumes.
    public static ConcurrencyLimit starting() {
        return new ConcurrencyLimit(new FairTurns("Failed to place sandbox", 2 * cpus(), MOST_WAITING, LIMIT));
    }

    /// The limit of saves.
    public static ConcurrencyLimit saving() {
        return new ConcurrencyLimit(new FairTurns("The sandbox goes on", cpus(), MOST_WAITING, LIMIT));
    }

    public FairTurns.Turn take(TeamId team) {
        return turns.take(team);
    }

    private static int cpus() {
        return Runtime.getRuntime().availableProcessors();
    }
}
