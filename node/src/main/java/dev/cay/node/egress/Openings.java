package dev.cay.node.egress;

import dev.cay.life.FairTurns;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// Lets so many connections at once have their TLS opened, which takes the node milliseconds of a processor each: two
/// handshakes, and a signature for a new host. Teams take turns. Thread-safe.
final class Openings {
    private static final int AT_ONCE_PER_CORE = 4;
    private static final int MOST_OF_TEAM = 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// A client may leave its handshake unfinished; then others begin.
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private final FairTurns turns;

    Openings() {
        this(AT_ONCE_PER_CORE * Runtime.getRuntime().availableProcessors());
    }

    Openings(int atOnce) {
        this.turns = new FairTurns("TLS is not opened", atOnce, MOST_OF_TEAM, PATIENCE);
    }

    /// A connection whose TLS is being opened, until it is closed, or for a second.
    interface Opening extends AutoCloseable {
        @Override
        void close();
    }

    /// Waits for the team's turn.
    Opening begin(String team) throws IOException {
        FairTurns.Turn turn;
        try {
            turn = turns.take(new TeamId(team));
        } catch (CayException e) {
            throw new IOException(e);
        }
        var over = new AtomicBoolean();
        Opening opening = () -> {
            if (over.compareAndSet(false, true)) {
                turn.close();
            }
        };
        Thread.startVirtualThread(() -> endLate(opening));
        return opening;
    }

    private static void endLate(Opening opening) {
        try {
            Thread.sleep(LONGEST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            opening.close();
        }
    }
}
