package dev.cay.node.mcp.catalog;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/// One interceptor of tool calls, from section `mcp.interceptors` of the configuration. Its text form has no arguments
/// and addresses, because they may contain credentials.
///
/// @param place   its position, like `mcp.interceptors[0]`
/// @param servers keys of the servers; `*` matches any characters, empty for all
/// @param tools   names of tools, without their server's, likewise
public record Interception(
        String place, When when, Way way, List<String> servers, List<String> tools, Duration timeout) {
    public Interception {
        servers = List.copyOf(servers);
        tools = List.copyOf(tools);
    }

    /// When it is called: before or after the call.
    public enum When {
        BEFORE,
        AFTER;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// How it is called.
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

    /// Its name in messages.
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
