package dev.cay.node.build;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Starts what a template has running, and waits until it is ready.
final class StartUp {
    /// What clients find the process by.
    static final String TAG = "start_command";

    private static final String USUAL_WAIT = "sleep 20";
    private static final Duration EVERY = Duration.ofSeconds(2);
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Duration TRY_LIMIT = Duration.ofMinutes(10);

    private StartUp() {}

    /// @throws CayException when it does not become ready
    static void run(BuildRoom room, StartCommand start, BuildVoice voice) throws IOException {
        var state = new BuildState(start.user(), start.workdir(), start.environment());
        BuildRoom.Started started = null;
        String command = start.command();
        if (command != null) {
            voice.say("Running start command: " + command);
            started = room.start(ShellCommand.of(command, state, null), TAG, voice);
        }
        String ready = start.ready();
        if (ready == null && command == null) {
            return;
        }
        await(room, ready == null ? USUAL_WAIT : ready, state, started, voice);
    }

    private static void await(
            BuildRoom room, String ready, BuildState state, BuildRoom.@Nullable Started started, BuildVoice voice)
            throws IOException {
        voice.say("Waiting for: " + ready);
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            var exit = room.run(ShellCommand.of(ready, state, null), null, (_, _) -> {}, TRY_LIMIT);
            if (exit.success()) {
                voice.say("Template is ready");
                return;
            }
            var ended = started == null ? null : started.exit();
            if (ended != null) {
                voice.say(Level.WARN, "the start command has ended with %s".formatted(ended.status()));
            }
            if (ended != null && !ended.success()) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "the start command ended with %s before the ready command succeeded".formatted(ended.status()));
            }
            if (System.nanoTime() > end) {
                throw new CayException(
                        ErrorKind.FAILED,
                        "the ready command did not succeed within %d minutes".formatted(LIMIT.toMinutes()));
            }
            pause();
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
