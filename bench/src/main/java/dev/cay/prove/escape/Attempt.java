package dev.cay.prove.escape;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;

/// What came of one probe, as `cay-probe` told it.
public record Attempt(Probe probe, Outcome outcome, String detail) {
    public enum Outcome {
        REFUSED,
        SUCCEEDED,
        /// It could not be made.
        ERROR
    }

    private static final List<String> ABSENCES = List.of(
            "not in this kernel",
            "Function not implemented",
            "not supported",
            "No such file or directory",
            "No such device",
            "no release_agent opens");

    /// The kernel, not a guard, said no: there is nothing here that could succeed.
    boolean absent() {
        return outcome == Outcome.REFUSED && ABSENCES.stream().anyMatch(detail::contains);
    }

    static Attempt failed(Probe probe, String why) {
        return new Attempt(probe, Outcome.ERROR, why);
    }

    /// All lines that are the program's; others are the noise of what ran it.
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
