package dev.cay.dockerfile;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// The commands of a finished stage as lines for a shell.
public final class StartCommand {
    private StartCommand() {}

    /// The command that a container of the image would start: ENTRYPOINT with CMD as its arguments. Empty when the
    /// stage has neither.
    public static Optional<String> of(StageState state) {
        var program = new ArrayList<String>();
        if (state.entrypoint() != null) {
            program.addAll(state.entrypoint());
        }
        if (state.command() != null) {
            program.addAll(state.command());
        }
        return program.isEmpty() ? Optional.empty() : Optional.of(quoted(program));
    }

    /// The check of HEALTHCHECK, which ends with 0 once the start command is ready. Empty when there is none.
    public static Optional<String> readyOf(StageState state) {
        var health = state.health();
        return health == null ? Optional.empty() : Optional.of(quoted(health.test()));
    }

    /// A line that makes a POSIX shell start exactly this program with these arguments.
    public static String quoted(List<String> program) {
        return program.stream().map(StartCommand::quoted).collect(Collectors.joining(" "));
    }

    private static String quoted(String word) {
        boolean plain = !word.isEmpty()
                && word.chars().allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || "_@%+:,./-".indexOf(c) >= 0));
        return plain ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
