package dev.cay.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// The request of `down` to the daemon beside the signal, and the daemon's last message: two small files in the run
/// directory, which only root may write. Files also work when the daemon no longer answers requests.
final class StopRequest {
    private StopRequest() {}

    static void clear(Path runDir) throws IOException {
        Files.deleteIfExists(endAll(runDir));
        Files.deleteIfExists(farewell(runDir));
    }

    /// Asks that all sandboxes be ended when the signal comes.
    static void askEndAll(Path runDir) throws IOException {
        Files.writeString(endAll(runDir), "");
    }

    static boolean take(Path runDir) throws IOException {
        return Files.deleteIfExists(endAll(runDir));
    }

    static void answer(Path runDir, String text) throws IOException {
        Files.writeString(farewell(runDir), text);
    }

    /// The message of a daemon that stopped normally; empty otherwise.
    static Optional<String> answered(Path runDir) throws IOException {
        Path file = farewell(runDir);
        Optional<String> text = Files.exists(file) ? Optional.of(Files.readString(file)) : Optional.empty();
        Files.deleteIfExists(file);
        return text;
    }

    private static Path endAll(Path runDir) {
        return runDir.resolve("end-all");
    }

    private static Path farewell(Path runDir) {
        return runDir.resolve("farewell");
    }
}
