package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The output of a template's build, for finding out why it failed. Thread-safe.
final class BuildLog implements AutoCloseable {
    static final String REACH = "check that this host reaches its package mirrors and the npm registry";

    private final String subject;
    private final Path file;
    private final BufferedWriter writer;

    private BuildLog(String subject, Path file, BufferedWriter writer) {
        this.subject = subject;
        this.file = file;
        this.writer = writer;
    }

    /// Replaces the log of an earlier build of the template.
    static BuildLog open(Path logs, String template) throws IOException {
        return of(logs.resolve(template + "-template.log"), "template " + template);
    }

    /// A log for something else that is built.
    static BuildLog of(Path file, String subject) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        return new BuildLog(subject, file, Files.newBufferedWriter(file));
    }

    synchronized void line(String line) {
        try {
            writer.write(line + "\n");
            writer.flush();
        } catch (IOException _) {
            // A log that cannot be written is no reason to stop.
        }
    }

    /// Runs a program and logs its output; its failure names the last lines.
    ///
    /// @param what the step that fails then
    void follow(Programs programs, Duration limit, Map<String, String> environment, List<String> command, String what) {
        var last = new String[] {""};
        int exit = programs.follow(limit, environment, command, line -> {
            line(line);
            last[0] = line;
        });
        if (exit != 0) {
            throw failed(what, last[0], "the log says what was missing");
        }
    }

    CayException failed(String what, String complaint, String fix) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "%s could not %s (%s): %s, then try again; the whole log is %s"
                        .formatted(
                                subject, what, complaint.isBlank() ? "no reason given" : complaint.strip(), fix, file));
    }

    @Override
    public synchronized void close() throws IOException {
        writer.close();
    }
}
