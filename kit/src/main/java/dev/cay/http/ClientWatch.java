package dev.cay.http;

import dev.cay.life.WaitLimits;
import java.util.function.Consumer;

/// Watches the connection of one HTTP/1.1 exchange for a client that disconnects. Thread-safe.
///
/// The watch starts only when the answer takes longer than a few milliseconds, because starting it wakes the selector,
/// which costs much of the work of a short request.
final class ClientWatch implements WaitLimits.Wait {
    private final Consumer<Runnable> begin;
    private final Runnable stop;
    private final WaitLimits waits;
    private final Runnable gone;
    private boolean wanted;
    private boolean begunOrOver;

    /// @param begin starts to watch the connection, and is given `gone`
    /// @param stop  ends the watch if it was started
    /// @param gone  called once if the client disconnects
    ClientWatch(Consumer<Runnable> begin, Runnable stop, WaitLimits waits, Runnable gone) {
        this.begin = begin;
        this.stop = stop;
        this.waits = waits;
        this.gone = gone;
    }

    /// Requests the watch. Call this only while Jetty does not read the connection: the request must have arrived
    /// completely.
    synchronized void want() {
        if (!wanted && !begunOrOver) {
            wanted = true;
            waits.add(this);
        }
    }

    @Override
    public synchronized void look(long now) {
        waits.remove(this);
        if (!begunOrOver) {
            begunOrOver = true;
            begin.accept(gone);
        }
    }

    /// Ends the watch: from here on Jetty, or a new owner, reads the connection.
    synchronized void end() {
        begunOrOver = true;
        stop.run();
        if (wanted) {
            waits.remove(this);
        }
    }
}
