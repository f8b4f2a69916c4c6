package dev.cay.sdk;

import org.jspecify.annotations.Nullable;

/// How a command ended. A command that failed is an answer like any other, not an exception.
///
/// @param exitCode -1 when a signal ended it
/// @param error    what the system says of an end that was none of its own, like `signal: killed`
/// @param cut      whether it printed more than was kept
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
