package dev.cay.node.mcp.catalog;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/// Something of the operator's that looks at calls of tools, from section `mcp.interceptors` of the configuration.
/// Prints no arguments and no addresses, as they may hold credentials.
///
/// @param place   where it stands, like `mcp.interceptors[0]`
/// @param servers keys of the servers it looks at; `*` stands for any characters, empty for all
/// @param tools   names of tools, without their server's, likewise
public record Interception(
        String place, When when, Way way, List<String> servers, List<String> tools, Duration timeout) {
    public Interception {
        servers = List.copyOf(servers);
        tools = List.copyOf(tools);
    }

    /// Of the call.
    public enum When {
        BEFORE,
        AFTER;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// How it is asked.
    public sealed interface Way {}

    public record Program(List<String> command) implements Way {
        public Program {
            command = List.copyOf(command);
        }
    }

    public record Web(URI url) implements Way {}

    /// @param tool its name without the server's
    public boolean concerns(String server, String tool) {
        return (servers.isEmpty() || ServerOverride.matches(servers, server))
                && (tools.isEmpty() || ServerOverride.matches(tools, tool));
    }

    /// What people are told of it.
    public String name() {
        String known = switch (way) {
            case Program(var command) ->
                command.getFirst().substring(command.getFirst().lastIndexOf('/') + 1);
            case Web(var url) -> url.getHost();
        };
        return "%s (%s)".formatted(place, known);
    }

    @Override
    public String toString() {
        return name();
    }
}
