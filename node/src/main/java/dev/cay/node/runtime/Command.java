package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// One run of a program of the host, with a limit.
///
/// Its output goes to files and is read when it has ended: a pipe would block the carrier of a virtual thread.
///
/// @param doing what for, in the words of a failure: "making the pool"
public record Command(String doing, List<String> words, Duration limit) {
    private static final File NULL = new File("/dev/null");

    public Command {
        words = List.copyOf(words);
    }

    public Command(String doing, Duration limit, String... words) {
        this(doing, List.of(words), limit);
    }

    /// Returns what it printed; anything but exit code 0 is an exception with what it complained of.
    public String run() {
        Path output = temporary();
        Path complaint = temporary();
        try {
            int code = await(start(output, complaint));
            if (code != 0) {
                throw failed(code, Files.readString(complaint));
            }
            return Files.readString(output);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "%s: cannot run %s".formatted(doing, words.getFirst()), e);
        } finally {
            delete(output);
            delete(complaint);
        }
    }

    Process start(Path output, Path complaint) throws IOException {
        return new ProcessBuilder(words)
                .redirectInput(NULL)
                .redirectOutput(output.toFile())
                .redirectError(complaint.toFile())
                .start();
    }

    /// Waits for the end; a program that takes too long is killed.
    int await(Process process) {
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return process.exitValue();
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

    /// Where a program lies, also when the daemon's PATH lacks the `sbin` directories.
    public static Optional<Path> find(String program) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.concat(Stream.of(path.split(":")), Stream.of("/usr/local/sbin", "/usr/sbin", "/sbin"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /// As {@link #find}, where there is no way without it.
    public static Path require(String program) {
        return find(program)
                .orElseThrow(() ->
                        new CayException(ErrorKind.UNAVAILABLE, "%s is not installed on this host".formatted(program)));
    }

    private static Path temporary() {
        try {
            return Files.createTempFile("cay-", ".out");
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make a temporary file", e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot remove " + file, e);
        }
    }
}
