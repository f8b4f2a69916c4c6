package dev.cay.node.mcp.server;

import dev.cay.node.image.oci.PulledImage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A container image of an MCP server: its layers on this machine, and its configuration.
///
/// @param digest      of the manifest for this machine
/// @param layers      content keys, the topmost first, few enough to be mounted
/// @param entrypoint  the program, followed by arguments of the catalog
/// @param command     follows the entry point where the catalog has no arguments
/// @param environment in the image's order
/// @param user        name or number, with a group after a colon; empty for root
/// @param workdir     empty for the root directory
record ServerImage(
        String digest,
        List<String> layers,
        List<String> entrypoint,
        List<String> command,
        Map<String, String> environment,
        String user,
        String workdir) {
    ServerImage {
        layers = List.copyOf(layers);
        entrypoint = List.copyOf(entrypoint);
        command = List.copyOf(command);
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    }

    static ServerImage of(PulledImage image, List<String> mountable) {
        var config = image.config();
        return new ServerImage(
                image.digest().toString(),
                mountable,
                config.entrypoint(),
                config.command(),
                config.environment(),
                config.user(),
                config.workdir());
    }

    /// The whole command line, as `docker run IMAGE ARGUMENTS...` makes it; empty if the image names no program.
    List<String> line(List<String> arguments) {
        var line = new ArrayList<>(entrypoint);
        line.addAll(arguments.isEmpty() ? command : arguments);
        return line;
    }
}
