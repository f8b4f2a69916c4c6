package dev.cay.sdk;

import org.jspecify.annotations.Nullable;

/// The result of a command. A command that fails is a result too, not an exception.
///
/// @param exitCode -1 if a signal ended it
/// @param error    why it ended if it did not exit by itself, like `signal: killed`
/// @param cut      whether output beyond the limit was dropped
public record CommandResult(
        int exitCode,
        String stdout,
        String stderr,
        @Nullable String error,
        boolean cut) {
    public boolean succeeded() {
        return exitCode == 0;
    }
}
