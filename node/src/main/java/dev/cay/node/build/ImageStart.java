package dev.cay.node.build;

import dev.cay.dockerfile.StageState;
import dev.cay.wire.node.StartCommand;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The start command of a Dockerfile.
final class ImageStart {
    /// Programs that, without arguments, read commands from a terminal, and serve nothing.
    private static final Set<String> INTERACTIVE =
            Set.of("bash", "sh", "ash", "dash", "zsh", "python", "python3", "node", "irb", "jshell", "lua", "R");

    private ImageStart() {}

    /// ENTRYPOINT and CMD as Docker starts them: by the user of the image, which is root if none is named.
    ///
    /// @return null when nothing is to be started
    static @Nullable StartCommand of(StageState state) {
        var command = dev.cay.dockerfile.StartCommand.of(state).orElse(null);
        if (command == null || isInteractive(state)) {
            return null;
        }
        return new StartCommand(
                command,
                ready(state),
                state.user().isEmpty() ? "root" : state.user(),
                state.workdir(),
                state.environment());
    }

    /// The start command for an image without a shell: a list of words, run directly. Nothing tells when it is ready.
    static @Nullable StartCommand withoutShell(StageState state) {
        var start = of(state);
        if (start == null) {
            return null;
        }
        var words = Stream.of(state.entrypoint(), state.command())
                .filter(Objects::nonNull)
                .flatMap(List::stream)
                .toList();
        return new StartCommand(ShellCommand.direct(words), null, start.user(), start.workdir(), start.environment());
    }

    private static boolean isInteractive(StageState state) {
        var last = state.command() != null && !state.command().isEmpty() ? state.command() : state.entrypoint();
        return last != null && last.size() == 1 && INTERACTIVE.contains(name(last));
    }

    private static String name(List<String> program) {
        String path = program.getFirst();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /// HEALTHCHECK; else the first port of EXPOSE, if the image has a program that sees it.
    private static @Nullable String ready(StageState state) {
        var check = dev.cay.dockerfile.StartCommand.readyOf(state);
        if (check.isPresent()) {
            return check.get();
        }
        return state.ports().stream()
                .filter(port -> port.endsWith("/tcp"))
                .map(port -> port.substring(0, port.indexOf('/')).split("-")[0])
                .findFirst()
                .map(port -> "if command -v ss >/dev/null; then ss -Htln 'sport = :%s' | grep -q .; else %s; fi"
                        .formatted(port, StartUp.USUAL_WAIT))
                .orElse(null);
    }
}
