package dev.cay.server;

import dev.cay.life.Steps;
import dev.cay.testing.OwnJava;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs a program in a JVM of its own, which is killed (kill -9) at the step of a number.
public final class KilledAtAStep {
    private static final int KILLED = 128 + 9;

    private KilledAtAStep() {}

    /// @param program whose `main` calls {@link #listen} with its first argument
    /// @return false if the program ended before it reached so many steps
    public static boolean run(Class<?> program, int step, Path directory) throws IOException, InterruptedException {
        var command = OwnJava.command(program, Integer.toString(step), directory.toString());
        var process = new ProcessBuilder(command).inheritIO().start();
        if (!process.waitFor(2, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new IOException(program + " does not end");
        }
        if (process.exitValue() != 0 && process.exitValue() != KILLED) {
            throw new IOException("%s failed with %d".formatted(program, process.exitValue()));
        }
        return process.exitValue() == KILLED;
    }

    /// In the program: from now on steps are counted.
    public static void listen(String step) {
        var left = new AtomicInteger(Integer.parseInt(step));
        Steps.listen(_ -> {
            if (left.decrementAndGet() == 0) {
                die();
            }
        });
    }

    private static void die() {
        try {
            new ProcessBuilder(
                            "kill", "-9", Long.toString(ProcessHandle.current().pid()))
                    .start()
                    .waitFor();
            Thread.sleep(60_000);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
