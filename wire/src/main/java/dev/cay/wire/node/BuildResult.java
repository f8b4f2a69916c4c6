package dev.cay.wire.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of a build.
///
/// @param layers   content keys, top first
/// @param user     default user of processes
/// @param workdir  default directory of processes; null for the user's home
/// @param snapshot the snapshot that sandboxes are restored from, with the start command running; null for a cold start
/// @param start    the start command, and the variables of steps
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
