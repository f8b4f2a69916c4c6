package dev.cay.http;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The end of an exchange, and the listeners for it.
///
/// An exchange completes once. Afterwards its connection may carry the next request, so it can be cut only before.
final class EndOfExchange {
    private static final Logger log = LoggerFactory.getLogger(EndOfExchange.class);

    private final List<Runnable> actions = new ArrayList<>();
    private @Nullable String cut;
    private boolean completed;
    private boolean told;

    synchronized boolean open() {
        return cut == null && !completed;
    }

    synchronized @Nullable String cutBecause() {
        return cut;
    }

    /// Whether a listener waits for the end.
    synchronized boolean awaited() {
        return !actions.isEmpty() && !completed;
    }

    /// Marks the exchange as cut. True for the one caller who may cut it.
    synchronized boolean cut(String reason) {
        if (!open()) {
            return false;
        }
        cut = reason;
        return true;
    }

    void complete(Runnable completion) {
        synchronized (this) {
            if (completed) {
                return;
            }
            completed = true;
        }
        completion.run();
    }

    void clientGone() {
        runActions();
    }

    void add(Runnable action) {
        synchronized (this) {
            if (!told) {
                actions.add(action);
                return;
            }
        }
        action.run();
    }

    void runActions() {
        List<Runnable> toRun;
        synchronized (this) {
            told = true;
            toRun = List.copyOf(actions);
            actions.clear();
        }
        for (Runnable action : toRun) {
            try {
                action.run();
            } catch (RuntimeException e) {
                log.atWarn().setCause(e).log("an action at the end of an exchange failed");
            }
        }
    }
}
