package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads in CRIU's log what kept it from saving a sandbox: which process, and what of it.
final class DumpFailure {
    private static final Pattern TASK = Pattern.compile("Dumping task \\(pid: (\\d+)");
    private static final Pattern ERROR = Pattern.compile("Error \\([^)]*\\): (?:[a-z_-]+: )?(.*)");
    private static final Pattern INNER = Pattern.compile("(?m)^NSpid:.*?(\\d+)$");
    private static final String FULL = "No space left on device";

    /// CRIU's message that a busy machine kept it from stopping all processes.
    private static final String LATE = "Timeout reached";

    /// CRIU's message that the first thread of a process has ended before its others.
    private static final String ENDING = "Zombies with threads";

    /// CRIU's message that a server inside has not accepted a connection yet.
    private static final String IN_FLIGHT = "In-flight connection";

    /// CRIU's messages that the other end of a unix socket is in no process that it saves. The kernel counts the socket
    /// of a server to the network of the client, so the first one stands for a server, the other ones for a client.
    private static final Pattern FOREIGN = Pattern.compile(
            "Unix socket .* (?:not found|without peer).*|External socket is used.*|Can't dump half of stream unix.*");

    private DumpFailure() {}

    /// The reason of a failed dump; empty when the log names no error: then CRIU was killed, or never started.
    ///
    /// @param lines of its log, without harmless ones
    static Optional<CayException> of(List<String> lines) {
        String task = null;
        for (String line : lines) {
            var begins = TASK.matcher(line);
            if (begins.find()) {
                task = begins.group(1);
            }
            var error = ERROR.matcher(line);
            if (error.find()) {
                return Optional.of(failure(task, error.group(1), lines));
            }
        }
        return Optional.empty();
    }

    private static CayException failure(@Nullable String task, String cause, List<String> lines) {
        if (lines.stream().anyMatch(line -> line.contains(FULL))) {
            return new CayException(
                    ErrorKind.UNAVAILABLE,
                    "there is no room on the machine's disk to save the memory of the sandbox; kill sandboxes, or let the operator run `cay pool grow`");
        }
        if (cause.startsWith(LATE)) {
            return new CayException(
                    ErrorKind.DEADLINE_EXCEEDED,
                    "what runs in the sandbox could not be stopped in time to be saved; try again");
        }
        if (cause.startsWith(ENDING)) {
            return new CayException(
                    ErrorKind.CONFLICT,
                    "the memory of the sandbox cannot be saved while a process with threads is ending in it. Try again, or end that process");
        }
        if (cause.startsWith(IN_FLIGHT)) {
            return new CayException(
                    ErrorKind.CONFLICT,
                    "the memory of the sandbox cannot be saved while %s has not accepted a connection. Try again, or end that process"
                            .formatted(task == null ? "a server in it" : describe(task)));
        }
        if (FOREIGN.matcher(cause).matches()) {
            return new CayException(
                    ErrorKind.NOT_SAVED,
                    "the memory of the sandbox cannot be saved while %s is connected with another sandbox over a unix socket in a volume. End that connection, or keep the files alone with memory false"
                            .formatted(task == null ? "a process in it" : describe(task)));
        }
        return new CayException(
                ErrorKind.NOT_SAVED,
                "the memory of the sandbox cannot be saved because of %s: %s. End what cannot be saved, or keep the files alone with memory false"
                        .formatted(task == null ? "what runs in it" : describe(task), cause));
    }

    /// Describes a process by its number in the sandbox, if it still runs.
    private static String describe(String pid) {
        try {
            Path process = Path.of("/proc", pid);
            var inner = INNER.matcher(Files.readString(process.resolve("status")));
            String name = Files.readString(process.resolve("comm")).strip();
            return "process %s (%s)".formatted(inner.find() ? inner.group(1) : "?", name);
        } catch (IOException gone) {
            return "a process that has ended since";
        }
    }
}
