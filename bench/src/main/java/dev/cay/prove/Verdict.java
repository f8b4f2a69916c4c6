package dev.cay.prove;

import java.util.List;
import java.util.stream.Collectors;

/// The result of a proof.
///
/// @param summary the figures, in one line for the page of promises
/// @param details further lines; tables in Markdown
public record Verdict(boolean holds, String summary, List<String> details) {
    public Verdict {
        details = List.copyOf(details);
    }

    /// One verdict for all parts of a proof: it holds if each of them does.
    static Verdict all(List<Verdict> parts) {
        return new Verdict(
                parts.stream().allMatch(Verdict::holds),
                parts.stream().map(Verdict::summary).collect(Collectors.joining("; ")),
                parts.stream().flatMap(part -> part.details().stream()).toList());
    }
}
