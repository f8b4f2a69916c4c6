package dev.cay.node.build;

import dev.cay.http.Json;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/// A command of a user, as a login shell runs it. One that is a JSON list of words, as Dockerfiles have them, is
/// run without a shell.
final class ShellCommand {
    private ShellCommand() {}

    /// The text of a command that needs no shell.
    static String direct(List<String> words) {
        return Json.text(words);
    }

    /// Empty for one that a shell runs.
    static List<String> words(@Nullable String command) {
        if (command == null || !command.startsWith("[\"")) {
            return List.of();
        }
        try {
            return List.of(Json.mapper().readValue(command, String[].class));
        } catch (JacksonException | NullPointerException e) {
            return List.of();
        }
    }

    /// @param user null for the current user of the build
    static BuildSandbox.Command of(String command, BuildState state, @Nullable String user) {
        var environment = new HashMap<>(state.environment());
        String who = user == null ? state.user() : user;
        var words = words(command);
        if (!words.isEmpty()) {
            return new BuildSandbox.Command(words, who, state.workdir(), environment);
        }
        String text = command;
        String path = environment.get("PATH");
        if (path != null) {
            environment.put("PATH", SearchPath.complete(path));
            // The profile that a login shell reads first sets a path of its own.
            environment.put("CAY_BUILD_PATH", SearchPath.complete(path));
            text = "export PATH=\"$CAY_BUILD_PATH\"; unset CAY_BUILD_PATH\n" + command;
        }
        return new BuildSandbox.Command(List.of("/bin/bash", "-l", "-c", text), who, state.workdir(), environment);
    }
}
