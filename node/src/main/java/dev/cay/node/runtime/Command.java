package dev.cay.node.runtime;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// One run of a host program, with a time limit, that must succeed.
///
/// @param doing its purpose, in the words of an error message: "making the pool"
public record Command(String doing, List<String> words, Duration limit) {
    private static final File NULL = new File("/dev/null");
    private static final Duration LOOK = Duration.ofSeconds(1);

    public Command {
        words = List.copyOf(words);
    }

    public Command(String doing, Duration limit, String... words) {
        this(doing, List.of(words), limit);
    }

    /// Runs it and returns its output; any exit code but 0 throws with its error output.
    public String run() {
        var result = Programs.ofHost().run(limit, "", words);
        if (!result.ok()) {
            throw failed(result.exit(), result.output());
        }
        return result.output();
    }

    /// Starts a program whose children outlive it and keep its output open: the output goes to files, whose end nobody
    /// waits for.
    ///
    /// @param variables of its environment, beside the daemon's
    Process start(Path output, Path complaint, Map<String, String> variables) throws IOException {
        var builder = new ProcessBuilder(words)
                .redirectInput(NULL)
                .redirectOutput(output.toFile())
                .redirectError(complaint.toFile());
        builder.environment().putAll(variables);
        return builder.start();
    }

    /// Waits for the end; a program that takes too long is killed.
    ///
    /// @param look runs every second until then
    int await(Process process, Runnable look) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (System.nanoTime() < end) {
                if (process.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                    return process.exitValue();
                }
                look.run();
            }
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED, "%s took longer than %d s".formatted(doing, limit.toSeconds()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, doing + " was interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    CayException failed(int code, String complaint) {
        String why = complaint.isBlank() ? "exit code " + code : complaint.strip();
        return new CayException(
                ErrorKind.INTERNAL,
                "%s failed: %s"
                        .formatted(doing, why.startsWith(words.getFirst()) ? why : words.getFirst() + ": " + why));
    }
}
