package dev.cay.prove;

import java.util.List;
import java.util.stream.Collectors;

/// What came of a proof.
///
/// @param summary the figures, in one line for the page of promises
/// @param details lines for whoever wants to know more; tables in Markdown read well
public record Verdict(boolean holds, String summary, List<String> details) {
    public Verdict {
        details = List.copyOf(details);
    }

    /// One for all parts of a proof: it holds if each of them does.
    static Verdict all(List<Verdict> parts) {
        return new Verdict(
                parts.stream().allMatch(Verdict::holds),
                parts.stream().map(Verdict::summary).collect(Collectors.joining("; ")),
                parts.stream().flatMap(part -> part.details().stream()).toList());
    }
}
