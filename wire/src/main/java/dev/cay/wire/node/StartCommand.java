package dev.cay.wire.node;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a template starts in its sandboxes, and how to tell that it is ready.
///
/// @param command     run by a shell, and left running; null for none
/// @param ready       run by a shell again and again until it ends with 0; null for the usual wait
/// @param user        whom both run as
/// @param workdir     where; null for the user's home
/// @param environment variables of both, beside those that every process has
public record StartCommand(
        @Nullable String command,
        @Nullable String ready,
        String user,
        @Nullable String workdir,
        Map<String, String> environment) {
    public StartCommand {
        environment = Map.copyOf(environment);
    }

    /// The same with another command to wait for.
    public StartCommand readyAfter(String other) {
        return new StartCommand(command, other, user, workdir, environment);
    }
}
