package dev.cay.node.mcp.catalog;

import java.util.List;

/// A user's request for one server, with the ways in which it can be started for that user. Its text form has names
/// only.
///
/// @param name     prefix of its tools' names
/// @param warnings sentences for the user about options without effect
/// @param ways     in the order in which they are tried; none for a server that cannot be started
public record ServerPlan(
        String key, String name, ServerOverride.Tools tools, List<String> warnings, List<LaunchPlan> ways) {
    public ServerPlan {
        warnings = List.copyOf(warnings);
        ways = List.copyOf(ways);
    }

    /// For a server that cannot be started, of which only the key is known.
    public static ServerPlan none(String key) {
        return new ServerPlan(key, key, ServerOverride.Tools.ALL, List.of(), List.of());
    }

    /// For a server with one way only.
    public static ServerPlan of(LaunchPlan way) {
        return new ServerPlan(way.key(), way.name(), ServerOverride.Tools.ALL, List.of(), List.of(way));
    }
}
