package dev.cay.sdk;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A command that runs. Those of {@link Commands#run} are `/bin/bash` with `-l`, `-c` and their text.
public record CommandInfo(
        int pid,
        String program,
        List<String> arguments,
        @Nullable String cwd) {
    public CommandInfo {
        arguments = List.copyOf(arguments);
    }
}
