package dev.cay.prove;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How much of a proof is wanted.
///
/// @param minutes how long a proof that goes on for a time shall do so; null for as long as it promises
/// @param small   a tenth of the sandboxes will do, for one who only wants to see that it runs
/// @param only    names of the parts to play, of a proof that has some; empty for all
public record Scope(@Nullable Integer minutes, boolean small, List<String> only) {
    public Scope {
        only = List.copyOf(only);
    }

    /// Whether what comes of it says something about the promise.
    public boolean isWhole() {
        return minutes == null && !small && only.isEmpty();
    }
}
