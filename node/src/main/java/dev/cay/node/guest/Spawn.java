package dev.cay.node.guest;

import java.util.List;

/// The inputs for starting a process.
///
/// @param environment `NAME=value` each
/// @param columns     0 for pipes instead of a terminal
/// @param stdin       whether stdin is a pipe rather than `/dev/null`; a terminal has one anyway
/// @param tag         the node's number, returned by `list`
public record Spawn(
        List<String> command,
        List<String> environment,
        String cwd,
        int uid,
        int gid,
        List<Integer> groups,
        int columns,
        int rows,
        boolean stdin,
        String tag) {
    public Spawn {
        command = List.copyOf(command);
        environment = List.copyOf(environment);
        groups = List.copyOf(groups);
    }

    boolean terminal() {
        return columns > 0;
    }
}
