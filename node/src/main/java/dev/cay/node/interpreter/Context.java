package dev.cay.node.interpreter;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One state in which cells of one language run, one after the other, in the order of their arrival.
final class Context {
    private static final Duration KEEPALIVE = Duration.ofSeconds(5);
    private static final String DISMISSED = "The context was restarted or removed before the execution had ended";

    private static final String STOPPED = "the sandbox is being stopped";

    /// The parts that all contexts of a sandbox share.
    interface Home extends RunnerSetup.Sandbox {
        /// Starts a runner for the context.
        ///
        /// @param warm whether it loads what cells usually want before it listens
        Runner launch(Context context, boolean warm);

        /// Notes soon which runners there are.
        void save();

        /// Refuses when it is closed.
        void requireOpen();
    }

    private final Home home;
    private final String id;
    private final Language language;
    private final String cwd;
    private final CellQueue turns = new CellQueue();
    private final AtomicLong numbers = new AtomicLong();
    private final RunnerSetup setup;
    private volatile @Nullable Runner runner;
    private volatile boolean warm;

    /// The runner that was ended on purpose, if one was.
    private volatile @Nullable Runner dismissed;

    private volatile boolean removed;

    /// @param warm whether its first runner loads what cells usually want before it listens
    Context(Home home, String id, Language language, String cwd, boolean warm) {
        this.home = home;
        this.id = id;
        this.language = language;
        this.cwd = cwd;
        this.warm = warm;
        this.setup = new RunnerSetup(home, language, cwd);
    }

    /// Adopts a runner of an earlier daemon, or of the sandbox this one was copied from.
    void adopt(Runner found, boolean copied) {
        runner = found;
        setup.adopted(copied);
    }

    /// Takes a runner that was started in advance.
    void take(Runner spare) {
        runner = spare;
    }

    String id() {
        return id;
    }

    Language language() {
        return language;
    }

    String cwd() {
        return cwd;
    }

    int pid() {
        var present = runner;
        return present == null || present.isOver() ? 0 : present.pid();
    }

    @Nullable
    Runner runner() {
        return runner;
    }

    /// Returns when cells can run.
    void start() {
        takeTurn();
        try {
            prepare();
        } finally {
            turns.leave();
        }
    }

    /// Starts the runner, but leaves an adopted one that is busy alone.
    void startUnlessBusy() {
        takeTurn();
        try {
            var present = runner;
            if (present == null || present.isOver()) {
                prepare();
            } else if (!setup.isDone()) {
                setup.run(present, false);
            }
        } finally {
            turns.leave();
        }
    }

    /// @param variables for this cell alone
    /// @param sent      runs when the code need not be kept any longer
    record Cell(String code, Map<String, String> variables, Runnable sent) {
        private byte[] line(long number) {
            var request = new LinkedHashMap<String, Object>();
            request.put("op", "run");
            request.put("id", number);
            request.put("code", code);
            request.put("env", variables);
            return Dialect.line(request);
        }
    }

    void run(Cell cell, CellStream to) {
        if (!takeTurn(to)) {
            return;
        }
        try {
            var ready = prepare();
            long number = numbers.incrementAndGet();
            ready.listen(() -> to.cut("others wait for the room of a long line that is read too slowly"));
            ready.send(cell.line(number));
            cell.sent().run();
            follow(ready, number, to);
        } catch (CayException | IOException e) {
            if (home.isClosed()) {
                to.cut(STOPPED);
            }
            to.failed("UnexpectedEndOfExecution", String.valueOf(e.getMessage()), "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            to.cut(STOPPED);
        } finally {
            var last = runner;
            if (last != null) {
                last.ignore();
            }
            turns.leave();
        }
        to.ended();
    }

    /// Wakes the thread that follows a cell, because its client may have disconnected.
    void look() {
        var present = runner;
        if (present != null) {
            present.wakeListener();
        }
    }

    private boolean takeTurn(CellStream to) {
        try {
            if (turns.take(() -> to.left() || home.isClosed())) {
                return true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        to.cut(STOPPED);
        return false;
    }

    private void takeTurn() {
        try {
            if (!turns.take(home::isClosed)) {
                throw new CayException(ErrorKind.UNAVAILABLE, STOPPED);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    private void follow(Runner running, long cell, CellStream to) throws InterruptedException {
        @Nullable Stopping stopping = null;
        while (true) {
            var event = running.next(stopping == null ? KEEPALIVE : Stopping.AGAIN);
            boolean over = event != null && hear(event, cell, to);
            if (over) {
                return;
            }
            if (home.isClosed()) {
                to.cut(STOPPED);
                return;
            }
            if (to.left()) {
                // A signal that comes too late for this cell must not meet the next one.
                setup.doubt();
                stopping = stopping == null ? new Stopping(running, Duration.ZERO) : stopping;
                if (!stopping.goOn()) {
                    running.kill();
                    return;
                }
            } else if (event == null) {
                to.keepalive();
            }
        }
    }

    /// @return whether the cell has ended
    private boolean hear(RunnerEvent event, long cell, CellStream to) {
        switch (event) {
            case RunnerEvent.Begin(long which, long count) -> {
                if (which == cell) {
                    to.began(count);
                }
            }
            case RunnerEvent.Printed printed -> to.printed(printed);
            case RunnerEvent.Shown shown -> to.shown(shown);
            case RunnerEvent.Failed(String name, String value, String traceback) -> to.failed(name, value, traceback);
            case RunnerEvent.End(long which) -> {
                return which == cell;
            }
            case RunnerEvent.Over _ -> {
                lost(to);
                return true;
            }
            case RunnerEvent.Ready _, RunnerEvent.Refused _ -> {
                // Of an earlier time.
            }
        }
        return false;
    }

    private void lost(CellStream to) {
        if (home.isClosed()) {
            to.cut(STOPPED);
        } else if (runner == dismissed) {
            to.failed("UnexpectedEndOfExecution", DISMISSED, "");
        } else {
            to.failed("ContextRestarting", "Context was restarted", "");
        }
    }

    /// Returns a started and configured runner. Call it only in a turn of the queue.
    private Runner prepare() {
        var present = runner;
        if (present != null && !present.isOver() && (setup.isDone() || setup.run(present, true))) {
            return present;
        }
        // The runner may seem to have ended only because the node disconnected from it; then it continues, with its
        // state.
        home.requireOpen();
        if (present != null) {
            present.kill();
        }
        requireThere();
        var fresh = home.launch(this, warm);
        warm = false;
        runner = fresh;
        setup.started();
        home.save();
        if (!setup.run(fresh, true) || removed) {
            String trouble = fresh.trouble();
            fresh.kill();
            requireThere();
            home.requireOpen();
            throw new CayException(
                    ErrorKind.FAILED, "the %s runner does not start: %s".formatted(language.label(), trouble));
        }
        return fresh;
    }

    private void requireThere() {
        if (removed) {
            throw new CayException(ErrorKind.NOT_FOUND, DISMISSED);
        }
    }

    /// Kills the runner and starts another.
    void restart() {
        dismiss();
        start();
    }

    /// Kills the runner for good.
    void remove() {
        removed = true;
        dismiss();
    }

    private void dismiss() {
        var present = runner;
        if (present != null) {
            dismissed = present;
            present.kill();
        }
    }

    /// Disconnects from the runner, which continues.
    void close() {
        var present = runner;
        if (present != null) {
            present.close();
        }
    }
}
