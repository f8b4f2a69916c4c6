package dev.cay.node.interpreter;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Sends the runner of a context its variables and its directory, and knows whether it still has to. Used in the
/// turn of the context, except for {@link #doubt}.
final class RunnerSetup {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    /// A cell whose client Cay itself disconnected continues until its context is needed, and then for this time.
    private static final Duration GRACE = Duration.ofSeconds(1);

    /// The facts about the sandbox that a setup needs.
    interface Sandbox {
        Surroundings surroundings();

        /// Given to no other request of this sandbox.
        long nextNumber();

        /// Random, for a runner's own generators.
        String seed();

        boolean isClosed();
    }

    private final Sandbox sandbox;
    private final Language language;
    private final String cwd;

    /// The variables that the runner has; null before the first setup.
    private volatile @Nullable Surroundings sent;

    /// Whether the runner may be busy with an earlier cell.
    private volatile boolean uncertain;

    /// Whether the runner was sent to its directory; later it goes where its cells go.
    private volatile boolean entered;

    RunnerSetup(Sandbox sandbox, Language language, String cwd) {
        this.sandbox = sandbox;
        this.language = language;
        this.cwd = cwd;
    }

    /// Notes that the context has a new runner.
    void started() {
        sent = null;
        entered = false;
        uncertain = false;
    }

    /// Notes that the context has a runner of an earlier daemon, or of the sandbox that this one was copied from.
    void adopted(boolean copied) {
        sent = copied ? null : sandbox.surroundings();
        entered = true;
        uncertain = true;
    }

    /// Notes that the runner may be busy: it must answer before the next cell.
    void doubt() {
        uncertain = true;
    }

    /// Whether the runner is free and has the present variables.
    boolean isDone() {
        return !uncertain && sandbox.surroundings().equals(sent);
    }

    /// Sends a runner its variables and directory, or only checks that it answers.
    ///
    /// @param insist interrupt a busy runner until it answers
    /// @return false when it has ended, or does not answer
    boolean run(Runner runner, boolean insist) {
        var now = sandbox.surroundings();
        long number = sandbox.nextNumber();
        runner.listen(() -> {});
        try {
            // If an earlier line was cut off, its rest must not become part of this one.
            runner.send(new byte[] {'\n'});
            runner.send(Dialect.line(request(now, number)));
            if (!awaitReady(runner, number, insist)) {
                return false;
            }
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } finally {
            runner.ignore();
        }
        sent = now;
        entered = true;
        uncertain = false;
        return true;
    }

    private Map<String, Object> request(Surroundings now, long number) {
        boolean news = !now.equals(sent);
        var request = new LinkedHashMap<String, Object>();
        request.put("op", "setup");
        request.put("n", number);
        request.put("env", news ? now.variables() : Map.of());
        request.put("unset", news ? now.gone() : List.of());
        if (news) {
            request.put("seed", sandbox.seed());
        }
        if (!entered) {
            request.put("cwd", cwd);
        }
        return request;
    }

    private boolean awaitReady(Runner runner, long number, boolean insist) throws InterruptedException {
        var stopping = new Stopping(runner, GRACE);
        long end = System.nanoTime() + (insist ? START_LIMIT : GRACE).toNanos();
        while (System.nanoTime() - end < 0 && !sandbox.isClosed()) {
            switch (runner.next(GRACE)) {
                case RunnerEvent.Ready(long which)
                when which == number -> {
                    return true;
                }
                case RunnerEvent.Refused(long which, String reason)
                when which == number -> {
                    if (!language.goesAnywhere()) {
                        throw new CayException(
                                ErrorKind.FAILED, "Failed to set working directory to %s: %s".formatted(cwd, reason));
                    }
                    return true;
                }
                case RunnerEvent.Over _ -> {
                    return false;
                }
                case null, default -> {
                    // Events of an earlier cell are ignored.
                }
            }
            if (uncertain && insist && !stopping.goOn()) {
                return false;
            }
        }
        return false;
    }
}
