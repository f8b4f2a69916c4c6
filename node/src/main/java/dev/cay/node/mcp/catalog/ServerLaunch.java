package dev.cay.node.mcp.catalog;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One way to run or reach a server's program.
public sealed interface ServerLaunch {
    /// The word in the files: `remote`, `command`, `npm` or `image`.
    String word();

    /// The transport of a remote server.
    enum Transport {
        STREAMABLE_HTTP("streamable-http"),
        SSE("sse");

        private final String word;

        Transport(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    /// Runs elsewhere, and is only called.
    record Remote(Template url, Transport transport, Map<String, Template> headers) implements ServerLaunch {
        public Remote {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }

        @Override
        public String word() {
            return "remote";
        }
    }

    /// A complete command line.
    ///
    /// @param files the host's files that are copied to `/opt/mcp`; null for none
    record Command(List<Template> line, @Nullable Path files) implements ServerLaunch {
        public Command {
            line = List.copyOf(line);
        }

        @Override
        public String word() {
            return "command";
        }
    }

    /// @param bin       which of the package's programs
    /// @param confirmed whether it is certain that the package is the program the entry is about
    record Npm(String packageName, String version, String bin, boolean confirmed) implements ServerLaunch {
        @Override
        public String word() {
            return "npm";
        }
    }

    /// The port of a server inside its own sandbox.
    record Port(int number, String path, Transport transport) {}

    /// @param registry a word for its registry; null for the default
    /// @param port     the port it listens at; null if it uses standard input and output
    record Image(
            String name,
            @Nullable String registry,
            @Nullable Port port) implements ServerLaunch {
        /// Hosts of the registries that entries name by a word.
        private static final Map<String, String> HOSTS = Map.of("github", "ghcr.io", "microsoft", "mcr.microsoft.com");

        /// The name as registries know it, with the host of its registry in front where that is not the usual one.
        public String reference() {
            return registry == null ? name : HOSTS.getOrDefault(registry, registry) + "/" + name;
        }

        @Override
        public String word() {
            return "image";
        }
    }
}
