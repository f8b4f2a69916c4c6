package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// Finds the reason of a runc failure in the launcher's output, runc's log and CRIU's log.
final class RuncFailure {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int CRIU_LINES = 6;
    private static final String DUMP = "dump.log";
    private static final String RESTORE = "restore.log";
    private static final List<String> CRIU_LOGS = List.of(DUMP, RESTORE);

    /// A harmless line: CRIU wants a higher limit of open files, and continues without.
    private static final String HARMLESS = "Can't setup RLIMIT_NOFILE";

    /// The launcher's words for a place that a request names and where nothing can be mounted.
    private static final String NO_PLACE = "nothing can be mounted at ";

    private final Bundle bundle;

    RuncFailure(Bundle bundle) {
        this.bundle = bundle;
    }

    /// Takes older complaints away.
    void reset() throws IOException {
        Files.deleteIfExists(bundle.log());
        for (String log : CRIU_LOGS) {
            Files.deleteIfExists(bundle.criuWork().resolve(log));
        }
    }

    CayException describe(Command command, int code) throws IOException {
        var undumped = DumpFailure.of(lines(bundle.criuWork().resolve(DUMP)).stream()
                .filter(line -> !line.contains(HARMLESS))
                .toList());
        if (undumped.isPresent()) {
            return undumped.get();
        }
        var unrestored = RestoreFailure.of(lines(bundle.criuWork().resolve(RESTORE)));
        if (unrestored.isPresent()) {
            return unrestored.get();
        }
        var complaints = lines(bundle.complaint());
        for (String line : complaints) {
            if (line.contains(NO_PLACE)) {
                return new CayException(ErrorKind.INVALID_ARGUMENT, line.substring(line.indexOf(NO_PLACE)));
            }
        }
        var reasons = new ArrayList<String>();
        complaints.stream().filter(line -> !line.isBlank()).forEach(reasons::add);
        lines(bundle.log()).forEach(line -> addError(line, reasons));
        for (String log : CRIU_LOGS) {
            List<String> errors = lines(bundle.criuWork().resolve(log)).stream()
                    .filter(line -> line.contains("Error (") && !line.contains(HARMLESS))
                    .toList();
            reasons.addAll(errors.subList(Math.max(0, errors.size() - CRIU_LINES), errors.size()));
        }
        String why = reasons.isEmpty() ? "exit code " + code : String.join("; ", reasons);
        return new CayException(ErrorKind.INTERNAL, "%s failed: %s".formatted(command.doing(), why));
    }

    private static void addError(String line, List<String> reasons) {
        try {
            var entry = JSON.readTree(line);
            String message = entry.path("msg").asString("");
            if ("error".equals(entry.path("level").asString("")) && !reasons.contains(message)) {
                reasons.add(message);
            }
        } catch (JacksonException e) {
            reasons.add(line);
        }
    }

    private static List<String> lines(Path file) throws IOException {
        try {
            return Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }
}
