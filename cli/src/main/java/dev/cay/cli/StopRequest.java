package dev.cay.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What `down` tells the daemon beside the signal, and what the daemon says last: two small files in the run
/// directory, which only root may write. Files, because they also work when the daemon no longer answers requests.
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

    static String answered(Path runDir) throws IOException {
        Path file = farewell(runDir);
        String text = Files.exists(file) ? Files.readString(file) : "Cay stopped.";
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
