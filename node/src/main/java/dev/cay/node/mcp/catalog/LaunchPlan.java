package dev.cay.node.mcp.catalog;

import java.net.URI;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// All that it takes to start, or reach, one server for one user. Prints names only, as values are credentials.
///
/// @param name              what the names of its tools begin with
/// @param environment       all variables of its process; none if it is remote
/// @param user              null for whoever runs it otherwise
/// @param secretInArguments whether a credential stands on the command line, where other processes can read it
/// @param warnings          sentences for the user about what was given and has no effect
public record LaunchPlan(
        String key,
        String name,
        Start start,
        Map<String, String> environment,
        List<Volume> volumes,
        @Nullable String user,
        CatalogServer.Network network,
        boolean longLived,
        ServerOverride.Tools tools,
        boolean secretInArguments,
        List<String> warnings) {
    public LaunchPlan {
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        volumes = List.copyOf(volumes);
        warnings = List.copyOf(warnings);
    }

    /// For what can be done without a user's options, which is to fetch the package.
    public static LaunchPlan of(String key, ServerLaunch.Npm npm) {
        return new LaunchPlan(
                key,
                key,
                new Npm(npm.packageName(), npm.version(), npm.bin(), List.of()),
                Map.of(),
                List.of(),
                null,
                CatalogServer.Network.OPEN,
                false,
                ServerOverride.Tools.ALL,
                false,
                List.of());
    }

    /// For a server that cannot be started, of which no more than its key is known.
    public static LaunchPlan none(String key) {
        return new LaunchPlan(
                key,
                key,
                new Command(List.of("false")),
                Map.of(),
                List.of(),
                null,
                CatalogServer.Network.OPEN,
                false,
                ServerOverride.Tools.ALL,
                false,
                List.of());
    }

    /// What is started or called.
    public sealed interface Start {}

    public record Remote(URI url, ServerLaunch.Transport transport, Map<String, String> headers) implements Start {
        public Remote {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }

        @Override
        public String toString() {
            return "Remote[transport=%s, headers=%s]".formatted(transport.word(), headers.keySet());
        }
    }

    public record Npm(String packageName, String version, String bin, List<String> arguments) implements Start {
        public Npm {
            arguments = List.copyOf(arguments);
        }

        @Override
        public String toString() {
            return "Npm[%s@%s, %s, %d arguments]".formatted(packageName, version, bin, arguments.size());
        }
    }

    /// @param files what of the host lies under `/opt/mcp` where it runs; null for nothing
    public record Command(List<String> line, @Nullable Path files) implements Start {
        public Command {
            line = List.copyOf(line);
        }

        public Command(List<String> line) {
            this(line, null);
        }

        @Override
        public String toString() {
            return "Command[%s, %d arguments]".formatted(line.getFirst(), line.size() - 1);
        }
    }

    /// A container image, which runs as its own configuration says.
    ///
    /// @param reference with its registry, like `docker.io/mcp/notion`
    /// @param arguments what follows the image's entry point
    public record Image(String reference, List<String> arguments) implements Start {
        public Image {
            arguments = List.copyOf(arguments);
        }

        @Override
        public String toString() {
            return "Image[%s, %d arguments]".formatted(reference, arguments.size());
        }
    }

    /// @param source a path, or the name of a volume if it has no `/`
    public record Volume(String source, String target, boolean readOnly) {
        @Override
        public String toString() {
            return "Volume[readOnly=%s]".formatted(readOnly);
        }
    }

    @Override
    public String toString() {
        return "LaunchPlan[key=%s, start=%s, environment=%s, volumes=%s, longLived=%s, secretInArguments=%s]"
                .formatted(key, start, environment.keySet(), volumes, longLived, secretInArguments);
    }
}
