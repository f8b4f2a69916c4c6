package dev.cay.cli;

import dev.cay.node.image.oci.ImageReference;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options for logins to the registries of a Dockerfile's images. Passwords are taken from files and standard input
/// only, as every user of the machine sees the arguments of a command.
final class RegistryOptions {
    @Option(
            names = "--registry-user",
            paramLabel = "NAME",
            description = "Who pulls the images of the Dockerfile; with --registry-password-stdin"
                    + " (default: what `docker login` wrote into ~/.docker/config.json).")
    private @Nullable String user;

    @Option(names = "--registry-password-stdin", description = "Read that user's password from standard input.")
    private boolean passwordStdin;

    @Option(
            names = "--registry",
            paramLabel = "HOST[:PORT]",
            description = "The registry that this login is for, if the Dockerfile names several.")
    private @Nullable String registry;

    /// @param images names of all images of the Dockerfile
    /// @return the field `registryLogins` of the API
    List<Map<String, Object>> logins(Set<String> images) throws IOException {
        var registries = images.stream()
                .map(image -> ImageReference.parse(image).registry())
                .collect(Collectors.toSet());
        var logins = new LinkedHashMap<>(
                new DockerLogins(DockerLogins.usualFile(System.getenv()), System.err).find(registries));
        if (user != null || passwordStdin || registry != null) {
            logins.put(registry(registries), given());
        }
        var all = new ArrayList<Map<String, Object>>();
        logins.forEach((host, login) -> all.add(Map.of(
                "registry", host, "type", "registry", "username", login.username(), "password", login.password())));
        return all;
    }

    private String registry(Set<String> named) {
        if (registry == null && named.size() == 1) {
            return named.iterator().next();
        }
        if (registry == null || !named.contains(registry)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "say by --registry which registry the login is for; the Dockerfile names %s"
                            .formatted(named.isEmpty() ? "none" : String.join(", ", named)));
        }
        return registry;
    }

    private DockerLogins.Login given() throws IOException {
        if (user == null || !passwordStdin) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "--registry-user and --registry-password-stdin are given together or not at all");
        }
        String password = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).strip();
        if (password.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "standard input has no password");
        }
        return new DockerLogins.Login(user, password);
    }
}
