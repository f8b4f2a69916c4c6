package dev.cay.prove;

import java.util.List;

/// What came of a proof.
///
/// @param summary the figures, in one line for the page of promises
/// @param details lines for whoever wants to know more; tables in Markdown read well
public record Verdict(boolean holds, String summary, List<String> details) {
    public Verdict {
        details = List.copyOf(details);
    }
}
