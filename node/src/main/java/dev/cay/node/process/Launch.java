package dev.cay.node.process;

import dev.cay.node.guest.Spawn;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A process to be started.
///
/// @param command     program and arguments
/// @param environment all of it, nothing is added
/// @param requested   the variables the caller asked for, which is what a listing shows
/// @param cwd         absolute
/// @param user        whom it runs as, for the record
/// @param groups      supplementary ones
/// @param terminal    its size, or null for pipes
/// @param stdin       whether stdin is a pipe rather than `/dev/null`
/// @param limit       it is killed when it still runs after so long, also when nobody follows it any more; null for
///                    never
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
    /// What is beyond the kernel's limits is brought within.
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

    /// What may be told and kept of the command. The one that begins a gateway is given credentials, and nothing else
    /// in a sandbox's life brings them so near.
    public List<String> shown() {
        boolean begins = command.stream().anyMatch(word -> word.contains(GATEWAY) && word.contains(CONFIG))
                || (command.getFirst().endsWith(GATEWAY) && command.stream().anyMatch(word -> word.startsWith(CONFIG)));
        return begins ? List.of(GATEWAY, CONFIG, "[...]") : command;
    }

    /// The same for the guest.
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
