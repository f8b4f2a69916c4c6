package dev.cay.node.mcp.catalog;

import java.util.List;

/// What a user wants of one server, and the ways in which it can be started for that user. Prints names only.
///
/// @param name     what the names of its tools begin with
/// @param warnings sentences for the user about what was given and has no effect
/// @param ways     in the order in which they are tried; none for a server that cannot be started
public record ServerPlan(
        String key, String name, ServerOverride.Tools tools, List<String> warnings, List<LaunchPlan> ways) {
    public ServerPlan {
        warnings = List.copyOf(warnings);
        ways = List.copyOf(ways);
    }

    /// For a server that cannot be started, of which no more than its key is known.
    public static ServerPlan none(String key) {
        return new ServerPlan(key, key, ServerOverride.Tools.ALL, List.of(), List.of());
    }

    /// For a server that is started in one way only, by what the plan of that way says.
    public static ServerPlan of(LaunchPlan way) {
        return new ServerPlan(way.key(), way.name(), ServerOverride.Tools.ALL, List.of(), List.of(way));
    }
}
