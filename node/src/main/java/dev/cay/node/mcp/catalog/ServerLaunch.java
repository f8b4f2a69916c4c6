package dev.cay.node.mcp.catalog;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One way to reach a server's program.
public sealed interface ServerLaunch {
    /// As in the files: `remote`, `command`, `npm` or `image`.
    String word();

    /// How a remote server is spoken to.
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

    /// A command line, all of it.
    ///
    /// @param files what of the host lies under `/opt/mcp` where it runs; null for nothing
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

    /// Where a server listens inside its own sandbox.
    record Port(int number, String path, Transport transport) {}

    /// @param registry a word for where it lies; null for the usual one
    /// @param port     where it listens; null if it speaks on its standard input and output
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
