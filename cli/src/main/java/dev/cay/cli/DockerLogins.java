package dev.cay.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The logins that `docker login` wrote into the user's `config.json`.
final class DockerLogins {
    private static final String DOCKER_HUB = "docker.io";
    private static final Set<String> NAMES_OF_DOCKER_HUB = Set.of("index.docker.io", "registry-1.docker.io");

    private final Path file;
    private final PrintStream notes;

    /// @param notes gets a line for each login that is there but cannot be used
    DockerLogins(Path file, PrintStream notes) {
        this.file = file;
        this.notes = notes;
    }

    /// A user's name with the password.
    record Login(String username, String password) {
        @Override
        public String toString() {
            return "Login[username=%s]".formatted(username);
        }
    }

    /// Where Docker's own command looks.
    static Path usualFile(Map<String, String> environment) {
        String directory = environment.getOrDefault("DOCKER_CONFIG", "");
        return directory.isEmpty()
                ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home")), ".docker", "config.json")
                : Path.of(directory, "config.json");
    }

    /// @param registries as names of images have them, like `registry.example:5000` and `docker.io`
    Map<String, Login> find(Set<String> registries) {
        var logins = new LinkedHashMap<String, Login>();
        var config = read();
        for (var entry : config.path("auths").properties()) {
            String registry = registry(entry.getKey());
            if (registries.contains(registry)) {
                login(entry.getValue())
                        .ifPresentOrElse(
                                login -> logins.put(registry, login),
                                () -> note("%s has no password for %s, perhaps as a credential helper keeps it"
                                        .formatted(file, registry)));
            }
        }
        for (var entry : config.path("credHelpers").properties()) {
            String registry = registry(entry.getKey());
            if (registries.contains(registry) && !logins.containsKey(registry)) {
                note("%s leaves the login for %s to a credential helper".formatted(file, registry));
            }
        }
        return logins;
    }

    private void note(String what) {
        notes.println(what + "; give it by --registry-user and --registry-password-stdin if it is needed");
    }

    private JsonNode read() {
        try {
            return JsonMapper.shared().readTree(Files.readString(file));
        } catch (NoSuchFileException e) {
            return JsonMapper.shared().createObjectNode();
        } catch (IOException e) {
            note("%s cannot be read (%s), so no login is sent".formatted(file, e));
        } catch (JacksonException e) {
            // Not its message: that may quote the file.
            note("%s is no JSON, so no login is sent".formatted(file));
        }
        return JsonMapper.shared().createObjectNode();
    }

    /// Keys are hosts, or addresses such as `https://index.docker.io/v1/`.
    private static String registry(String key) {
        String host = key.replaceFirst("^https?://", "").replaceFirst("/.*", "").toLowerCase(Locale.ROOT);
        return NAMES_OF_DOCKER_HUB.contains(host) ? DOCKER_HUB : host;
    }

    private static Optional<Login> login(JsonNode entry) {
        String user = entry.path("username").asString("");
        String password = entry.path("password").asString("");
        String both = decoded(entry.path("auth").asString(""));
        int colon = both.indexOf(':');
        if (colon > 0) {
            user = both.substring(0, colon);
            password = both.substring(colon + 1);
        }
        return user.isEmpty() || password.isEmpty() ? Optional.empty() : Optional.of(new Login(user, password));
    }

    private static String decoded(String base64) {
        try {
            return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
