package dev.cay.node.build;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Starts what a template has running, and waits until it is ready.
public final class StartUp {
    /// The tag by which clients find the process.
    private static final String TAG = "start_command";

    /// The wait without a ready command.
    static final String USUAL_WAIT = "sleep 20";

    private static final Duration EVERY = Duration.ofSeconds(2);

    private final BuildSandbox sandbox;
    private final Consumer<String> voice;
    private final BuildSandbox.OutputListener listener;
    private final Duration limit;

    /// @param voice    receives messages for the log
    /// @param listener receives the start command's output
    /// @param limit    time until it must be ready
    public StartUp(BuildSandbox sandbox, Consumer<String> voice, BuildSandbox.OutputListener listener, Duration limit) {
        this.sandbox = sandbox;
        this.voice = voice;
        this.listener = listener;
        this.limit = limit;
    }

    /// @throws CayException when it does not become ready
    public void run(StartCommand start) throws IOException {
        var state = new BuildState(start.user(), start.workdir(), start.environment());
        BuildSandbox.Started started = null;
        String command = start.command();
        if (command != null) {
            voice.accept("Running start command: " + command);
            started = sandbox.start(ShellCommand.of(command, state, null), TAG, listener);
        }
        String ready = start.ready();
        if (ready != null) {
            voice.accept("Waiting for: " + ready);
            await(ShellCommand.of(ready, state, null), started);
        } else if (started != null && !ShellCommand.words(command).isEmpty()) {
            voice.accept("Waiting a moment, as the image has no shell for a ready command");
            pause();
            requireRunning(started);
        }
    }

    private void await(BuildSandbox.Command ready, BuildSandbox.@Nullable Started started) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (!sandbox.run(ready, null, (_, _) -> {}, limit).success()) {
            requireRunning(started);
            if (System.nanoTime() > end) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "the ready command did not succeed within %d seconds".formatted(limit.toSeconds()));
            }
            pause();
        }
        voice.accept("Template is ready");
    }

    /// Checks that the start command has not failed. One that ended with 0 may have left a server running.
    private static void requireRunning(BuildSandbox.@Nullable Started started) throws IOException {
        var ended = started == null ? null : started.exit();
        if (ended != null && !ended.success()) {
            throw new CayException(
                    ErrorKind.FAILED, "the start command ended with %s before it was ready".formatted(ended.status()));
        }
    }

    private static void pause() {
        try {
            TimeUnit.NANOSECONDS.sleep(EVERY.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the build was stopped", e);
        }
    }
}
