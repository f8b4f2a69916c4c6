package dev.cay.node.process;

import dev.cay.node.guest.Spawn;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A process to start.
///
/// @param command     program and arguments
/// @param environment the complete environment
/// @param requested   the variables the caller asked for, which a list shows
/// @param cwd         absolute
/// @param user        name of the user, for the record
/// @param groups      supplementary ones
/// @param terminal    its size, or null for pipes
/// @param stdin       whether stdin is a pipe rather than `/dev/null`
/// @param limit       time after which it is killed, also without subscribers; null for never
public record Launch(
        List<String> command,
        Map<String, String> environment,
        Map<String, String> requested,
        String cwd,
        String user,
        int uid,
        int gid,
        List<Integer> groups,
        @Nullable TerminalSize terminal,
        boolean stdin,
        @Nullable String tag,
        @Nullable Duration limit) {
    /// Values beyond the kernel's limits are clamped.
    public record TerminalSize(int columns, int rows) {
        private static final int MOST = 65535;

        public TerminalSize {
            columns = Math.clamp(columns, 1, MOST);
            rows = Math.clamp(rows, 1, MOST);
        }
    }

    private static final String GATEWAY = "mcp-gateway";
    private static final String CONFIG = "--config";

    public Launch {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        requested = Map.copyOf(requested);
        groups = List.copyOf(groups);
    }

    /// The command as it may be shown and stored. The command that starts a gateway contains credentials, which are
    /// left out.
    public List<String> shown() {
        boolean begins = command.stream().anyMatch(word -> word.contains(GATEWAY) && word.contains(CONFIG))
                || (command.getFirst().endsWith(GATEWAY) && command.stream().anyMatch(word -> word.startsWith(CONFIG)));
        return begins ? List.of(GATEWAY, CONFIG, "[...]") : command;
    }

    /// The request to the guest.
    Spawn spawn(String mark) {
        return new Spawn(
                command,
                environment.entrySet().stream()
                        .map(variable -> variable.getKey() + "=" + variable.getValue())
                        .toList(),
                cwd,
                uid,
                gid,
                groups,
                terminal == null ? 0 : terminal.columns(),
                terminal == null ? 0 : terminal.rows(),
                stdin,
                mark);
    }
}
