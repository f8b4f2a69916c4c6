package dev.cay.http;

import dev.cay.life.WaitLimits;
import java.util.function.Consumer;

/// Watches the connection of one HTTP/1.1 exchange for a client that goes away. Thread-safe.
///
/// The watch begins only when the answer takes longer than a moment: a watch wakes the selector, which is a good part
/// of the work for a short request.
final class ClientWatch implements WaitLimits.Wait {
    private final Consumer<Runnable> begin;
    private final Runnable stop;
    private final WaitLimits waits;
    private final Runnable gone;
    private boolean wanted;
    private boolean begunOrOver;

    /// @param begin begins to watch the connection, and is given `gone`
    /// @param stop  ends what was begun, if it was
    /// @param gone  called once if the client goes away
    ClientWatch(Consumer<Runnable> begin, Runnable stop, WaitLimits waits, Runnable gone) {
        this.begin = begin;
        this.stop = stop;
        this.waits = waits;
        this.gone = gone;
    }

    /// Only while Jetty does not read the connection: the request must have arrived whole.
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

    /// Ends it: from here on Jetty reads the connection, or whoever took it over.
    synchronized void end() {
        begunOrOver = true;
        stop.run();
        if (wanted) {
            waits.remove(this);
        }
    }
}
