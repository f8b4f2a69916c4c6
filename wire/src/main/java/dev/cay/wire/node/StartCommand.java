package dev.cay.wire.node;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The start command of a template, with its check for readiness.
///
/// @param command     run by a shell, and left running; null for none
/// @param ready       run by a shell repeatedly until it ends with 0; null for the usual wait
/// @param user        the user of both
/// @param workdir     their directory; null for the user's home
/// @param environment variables of both, beside those of every process
public record StartCommand(
        @Nullable String command,
        @Nullable String ready,
        String user,
        @Nullable String workdir,
        Map<String, String> environment) {
    public StartCommand {
        environment = Map.copyOf(environment);
    }

    /// A copy with another ready command.
    public StartCommand readyAfter(String other) {
        return new StartCommand(command, other, user, workdir, environment);
    }
}
