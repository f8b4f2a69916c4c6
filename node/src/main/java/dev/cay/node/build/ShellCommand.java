package dev.cay.node.build;

import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A command of a user, as a login shell runs it.
final class ShellCommand {
    private ShellCommand() {}

    /// @param user null for the one that the steps so far have chosen
    static BuildRoom.Command of(String command, BuildState state, @Nullable String user) {
        var environment = new HashMap<>(state.environment());
        String text = command;
        String path = environment.get("PATH");
        if (path != null) {
            environment.put("PATH", SearchPath.complete(path));
            // The profile that a login shell reads first sets a path of its own.
            environment.put("CAY_BUILD_PATH", SearchPath.complete(path));
            text = "export PATH=\"$CAY_BUILD_PATH\"; unset CAY_BUILD_PATH\n" + command;
        }
        return new BuildRoom.Command(
                List.of("/bin/bash", "-l", "-c", text),
                user == null ? state.user() : user,
                state.workdir(),
                environment);
    }
}
