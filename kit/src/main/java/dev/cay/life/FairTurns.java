package dev.cay.life;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Limits how many run at the same time, and makes the others wait: a hundred starts finish sooner one after the other
/// than all together, and so do a hundred pauses, which use the same disk.
///
/// Teams take turns, and the work of each team waits in order. However much of one team waits, the first of another
/// team waits for at most one of it. Thread-safe.
public final class FairTurns {
    private static final int MOST_TEAMS = 10;

    /// A permit to run; closing it admits the next one.
    public interface Turn extends AutoCloseable {
        @Override
        void close();
    }

    private final String what;
    private final int atOnce;
    private final int mostOfTeam;
    private final Duration limit;

    // Guarded by this.
    private final SequencedMap<TeamId, ArrayDeque<Semaphore>> waiting = new LinkedHashMap<>();
    private int running;
    private int waitingInAll;

    /// @param what      begins the message for those who get no turn, before the reason
    /// @param atOnce    how many run at once
    /// @param mostOfTeam how many of one team may wait; each costs memory
    /// @param limit     how long each waits
    public FairTurns(String what, int atOnce, int mostOfTeam, Duration limit) {
        this.what = what;
        this.atOnce = atOnce;
        this.mostOfTeam = mostOfTeam;
        this.limit = limit;
    }

    /// Waits until it is this team's turn.
    public Turn take(TeamId team) {
        var called = new Semaphore(0);
        if (!enter(team, called)) {
            await(team, called);
        }
        return this::leave;
    }

    /// A turn, if no wait is needed.
    public synchronized Optional<Turn> tryTake() {
        if (running == atOnce) {
            return Optional.empty();
        }
        running++;
        return Optional.of(this::leave);
    }

    /// @return whether no wait is needed; if one is, the semaphore is released when it is the caller's turn
    private synchronized boolean enter(TeamId team, Semaphore called) {
        if (running < atOnce) {
            running++;
            return true;
        }
        var others = waiting.get(team);
        // The first of a team always waits: teams that have many waiting must not keep others out.
        if (others != null && (others.size() >= mostOfTeam || waitingInAll >= MOST_TEAMS * mostOfTeam)) {
            throw busy("too many others wait for their turn");
        }
        waiting.computeIfAbsent(team, _ -> new ArrayDeque<>()).add(called);
        waitingInAll++;
        return false;
    }

    private void await(TeamId team, Semaphore called) {
        try {
            if (!called.tryAcquire(limit.toMillis(), TimeUnit.MILLISECONDS) && withdraw(team, called)) {
                throw busy("it was not its turn within %d seconds".formatted(limit.toSeconds()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (!withdraw(team, called)) {
                leave();
            }
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for a turn", e);
        }
    }

    /// @return false if it has got its turn meanwhile
    private synchronized boolean withdraw(TeamId team, Semaphore called) {
        var own = waiting.get(team);
        if (own == null || !own.remove(called)) {
            return false;
        }
        waitingInAll--;
        if (own.isEmpty()) {
            waiting.remove(team);
        }
        return true;
    }

    /// Gives the turn to the first of the next team, which then goes to the end of the queue with the rest of its
    /// work.
    private synchronized void leave() {
        var next = waiting.pollFirstEntry();
        if (next == null) {
            running--;
            return;
        }
        var own = next.getValue();
        var called = own.remove();
        waitingInAll--;
        if (!own.isEmpty()) {
            waiting.putLast(next.getKey(), own);
        }
        called.release();
    }

    private CayException busy(String message) {
        return new CayException(ErrorKind.UNAVAILABLE, what + ": " + message + "; try again later");
    }
}
