package dev.cay.node.mcp.catalog;

import java.net.URI;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The inputs for starting, or reaching, one server for one user in one way. Its text form has names only, because
/// values are credentials.
///
/// @param name              its name for users
/// @param environment       all variables of its process; none if it is remote
/// @param user              null for the default user
/// @param network           the hosts it reaches; of a remote one, its own
/// @param secretInArguments whether a credential is on the command line, where other processes can read it
public record LaunchPlan(
        String key,
        String name,
        Start start,
        Map<String, String> environment,
        List<Volume> volumes,
        @Nullable String user,
        CatalogServer.Network network,
        boolean longLived,
        boolean secretInArguments) {
    public LaunchPlan {
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        volumes = List.copyOf(volumes);
    }

    /// A plan for fetching a package or an image without a user's options; empty where there is nothing to fetch.
    public static Optional<LaunchPlan> toFetch(String key, ServerLaunch launch) {
        return switch (launch) {
            case ServerLaunch.Npm npm ->
                Optional.of(of(key, new Npm(npm.packageName(), npm.version(), npm.bin(), List.of())));
            case ServerLaunch.Image image -> Optional.of(of(key, new Image(image.reference(), List.of())));
            case ServerLaunch.Remote _, ServerLaunch.Command _ -> Optional.empty();
        };
    }

    /// A plan without options.
    public static LaunchPlan of(String key, Start start) {
        return new LaunchPlan(key, key, start, Map.of(), List.of(), null, CatalogServer.Network.OPEN, false, false);
    }

    /// The way with its target, like `npm @scope/name 1.2.3`: for people, without any option.
    public String way() {
        return start.word() + " " + start.what();
    }

    /// The program or address of a plan.
    public sealed interface Start {
        /// The word in the files: `remote`, `command`, `npm` or `image`; or `repository`.
        String word();

        /// Which host, program, package, image or repository.
        String what();
    }

    public record Remote(URI url, ServerLaunch.Transport transport, Map<String, String> headers) implements Start {
        public Remote {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }

        /// The only `host:port` that the headers are for.
        public String host() {
            int usual = "http".equalsIgnoreCase(url.getScheme()) ? 80 : 443;
            return url.getHost() + ":" + (url.getPort() < 0 ? usual : url.getPort());
        }

        @Override
        public String word() {
            return "remote";
        }

        @Override
        public String what() {
            return url.getHost();
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
        public String word() {
            return "npm";
        }

        @Override
        public String what() {
            return packageName + " " + version;
        }

        @Override
        public String toString() {
            return "Npm[%s@%s, %s, %d arguments]".formatted(packageName, version, bin, arguments.size());
        }
    }

    /// @param files the host's files that are copied to `/opt/mcp`; null for none
    public record Command(List<String> line, @Nullable Path files) implements Start {
        public Command {
            line = List.copyOf(line);
        }

        public Command(List<String> line) {
            this(line, null);
        }

        @Override
        public String word() {
            return "command";
        }

        @Override
        public String what() {
            return line.getFirst();
        }

        @Override
        public String toString() {
            return "Command[%s, %d arguments]".formatted(line.getFirst(), line.size() - 1);
        }
    }

    /// A container image, which runs by its own configuration.
    ///
    /// @param reference with its registry, like `docker.io/mcp/notion`
    /// @param arguments arguments of the image's entry point
    /// @param port      the port it listens at; null if it uses standard input and output
    public record Image(String reference, List<String> arguments, ServerLaunch.@Nullable Port port) implements Start {
        public Image {
            arguments = List.copyOf(arguments);
        }

        public Image(String reference, List<String> arguments) {
            this(reference, arguments, null);
        }

        @Override
        public String word() {
            return "image";
        }

        @Override
        public String what() {
            return reference;
        }

        @Override
        public String toString() {
            return "Image[%s, %d arguments]".formatted(reference, arguments.size());
        }
    }

    /// A program in a Git repository, which is cloned and installed first.
    ///
    /// @param name    what users know it by
    /// @param url     where it is cloned from
    /// @param install a command for a shell, which gets none of the server's variables; empty for none
    public record Repository(String name, String url, String install, List<String> line) implements Start {
        public Repository {
            line = List.copyOf(line);
        }

        @Override
        public String word() {
            return "repository";
        }

        @Override
        public String what() {
            return name;
        }

        @Override
        public String toString() {
            return "Repository[%s, %d arguments]".formatted(name, line.size() - 1);
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
