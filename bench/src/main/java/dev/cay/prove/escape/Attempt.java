package dev.cay.prove.escape;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;

/// The result of one probe, as `cay-probe` reported it.
public record Attempt(Probe probe, Outcome outcome, String detail) {
    public enum Outcome {
        REFUSED,
        SUCCEEDED,
        /// The probe could not be run.
        ERROR
    }

    private static final List<String> ABSENCES = List.of(
            "not in this kernel",
            "Function not implemented",
            "not supported",
            "No such file or directory",
            "No such device",
            "no release_agent opens");

    /// Whether the kernel, not a guard, refused: nothing here could succeed.
    boolean absent() {
        return outcome == Outcome.REFUSED && ABSENCES.stream().anyMatch(detail::contains);
    }

    static Attempt failed(Probe probe, String why) {
        return new Attempt(probe, Outcome.ERROR, why);
    }

    /// Parses the program's lines; others belong to the program that ran it.
    static List<Attempt> parse(String output) {
        return output.lines()
                .filter(line -> line.startsWith("{\"probe\""))
                .map(Attempt::parseLine)
                .toList();
    }

    private static Attempt parseLine(String line) {
        var json = JsonMapper.shared().readTree(line);
        String word = json.path("outcome").asString().toUpperCase(Locale.ROOT);
        try {
            return new Attempt(
                    Probes.named(json.path("probe").asString()),
                    Outcome.valueOf(word),
                    json.path("detail").asString());
        } catch (IllegalArgumentException e) {
            throw new CayException(ErrorKind.INTERNAL, "cay-probe said: " + line, e);
        }
    }
}
