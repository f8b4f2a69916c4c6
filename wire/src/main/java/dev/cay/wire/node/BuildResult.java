package dev.cay.wire.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a build has made.
///
/// @param layers   content keys, top first
/// @param user     whom processes run as that name no user
/// @param workdir  where they start; null for the user's home
/// @param snapshot what sandboxes go on from, with the start command running; null when they start anew
/// @param start    what was started, and the variables that steps saw
public record BuildResult(
        List<String> layers,
        String user,
        @Nullable String workdir,
        @Nullable String snapshot,
        StartCommand start) {
    public BuildResult {
        layers = List.copyOf(layers);
    }
}
