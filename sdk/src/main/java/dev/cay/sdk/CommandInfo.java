package dev.cay.sdk;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A running command. Commands of {@link Commands#run} are `/bin/bash` with the arguments `-l`, `-c` and their text.
public record CommandInfo(
        int pid,
        String program,
        List<String> arguments,
        @Nullable String cwd) {
    public CommandInfo {
        arguments = List.copyOf(arguments);
    }
}
