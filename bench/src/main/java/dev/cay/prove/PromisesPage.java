package dev.cay.prove;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/// The page of promises, as far as programs write it: one row per proof, replaced by each run.
public final class PromisesPage {
    private static final String HEADING = "| proof | promise | verdict | date | commit |";

    private final Path home;

    /// @param home the directory of the sources
    public PromisesPage(Path home) {
        this.home = home;
    }

    private Path file() {
        return home.resolve("docs/PROMISES.md");
    }

    public void note(Proof proof, Verdict verdict, LocalDate date) {
        var row = "| `%s` | %s | %s: %s | %s | %s |"
                .formatted(
                        proof.name(),
                        proof.promise(),
                        verdict.holds() ? "holds" : "**does not hold**",
                        verdict.summary(),
                        date,
                        commit());
        try {
            var lines = new ArrayList<>(Files.readAllLines(file()));
            replace(lines, "| `" + proof.name() + "` |", row);
            Files.write(file(), lines);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file(), e);
        }
    }

    private void replace(List<String> lines, String begin, String row) {
        int table = lines.indexOf(HEADING);
        if (table < 0) {
            throw new CayException(
                    ErrorKind.CONFLICT, "%s has no table with the heading %s".formatted(file(), HEADING));
        }
        int at = table + 2;
        while (at < lines.size() && lines.get(at).startsWith("|")) {
            if (lines.get(at).startsWith(begin)) {
                lines.set(at, row);
                return;
            }
            at++;
        }
        lines.add(at, row);
    }

    /// What the sources were; `+` when something in them is not committed.
    public String commit() {
        String head = git("rev-parse", "--short", "HEAD");
        if (head.isEmpty()) {
            return "–";
        }
        return git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
                        .isEmpty()
                ? head
                : head + "+";
    }

    private String git(String... arguments) {
        var command = new ArrayList<>(List.of("git", "-C", home.toString()));
        command.addAll(List.of(arguments));
        try {
            var process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException _) {
            return "";
        }
    }
}
