package dev.cay.prove;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How much of a proof to run.
///
/// @param minutes duration of a proof that runs for a time; null for the promised one
/// @param small   a tenth of the sandboxes, for a quick try
/// @param only    names of the parts to run, of a proof that has some; empty for all
public record Scope(@Nullable Integer minutes, boolean small, List<String> only) {
    public Scope {
        only = List.copyOf(only);
    }

    /// Whether the result counts for the promise.
    public boolean isWhole() {
        return minutes == null && !small && only.isEmpty();
    }
}
