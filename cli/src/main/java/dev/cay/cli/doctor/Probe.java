package dev.cay.cli.doctor;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Asks a program or a file of the host, with a limit, and takes no answer for an answer.
final class Probe {
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final Set<Integer> NO_ANSWER = Set.of(124, 126, 127, 137);

    /// @param text both streams, stripped
    record Answer(int code, String text) {
        boolean succeeded() {
            return code == 0;
        }
    }

    private Probe() {}

    /// Empty when there is no such program or it does not end in time.
    static Optional<Answer> run(String... command) {
        // timeout(1) also ends what the program started, and its own codes tell a missing program from a failing one.
        var limited = new ArrayList<>(List.of("timeout", "--kill-after=1", Long.toString(LIMIT.toSeconds())));
        limited.addAll(List.of(command));
        try {
            var process = new ProcessBuilder(limited)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            return NO_ANSWER.contains(code) ? Optional.empty() : Optional.of(new Answer(code, text.strip()));
        } catch (IOException _) {
            return Optional.empty();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /// The file's text, or nothing at all when it cannot be read. In large pieces: a file below `/proc/sys` answers
    /// only its first read, and `Files.readString` asks such a file, whose size is 0, for one byte first.
    static String read(String file) {
        try (var in = new FileInputStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException _) {
            return "";
        }
    }
}
