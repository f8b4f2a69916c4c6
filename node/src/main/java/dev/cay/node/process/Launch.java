package dev.cay.node.process;

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
    public record TerminalSize(int columns, int rows) {}

    public Launch {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        requested = Map.copyOf(requested);
        groups = List.copyOf(groups);
    }
}
