package dev.cay.cli.local;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The API key as a user keeps it: `~/.config/cay/key`, readable by that user alone.
public final class KeyFile {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /// Written beside its place and moved, so that it is never seen half or with other permissions.
    private static final String WRITE = """
            umask 077
            mkdir -p "$HOME/.config/cay" && cat >"$HOME/.config/cay/$1.new" && \
            mv -f "$HOME/.config/cay/$1.new" "$HOME/.config/cay/$1"
            """;

    private KeyFile() {}

    /// A second daemon on the host has a key of its own.
    public static String name(String instance) {
        return instance.equals("0") ? "key" : "key-" + instance;
    }

    public static Path in(Path home, String instance) {
        return home.resolve(".config/cay").resolve(name(instance));
    }

    public static Optional<String> read(Path home, String instance) throws IOException {
        Path file = in(home, instance);
        return Files.isReadable(file) ? Optional.of(Files.readString(file).strip()) : Optional.empty();
    }

    /// Saves the key for root, and for the user who called sudo. Returns the users who have it now.
    public static List<String> save(String key, String instance, Map<String, String> environment) {
        var users = new LinkedHashSet<String>();
        users.add("root");
        String caller = environment.getOrDefault("SUDO_USER", "");
        if (caller.matches("[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")) {
            users.add(caller);
        }
        users.forEach(user -> saveAs(user, key, instance));
        return List.copyOf(users);
    }

    /// Saves it as that user and not as root, because a link in the user's directory could lead root anywhere.
    private static void saveAs(String user, String key, String instance) {
        var command = List.of("runuser", "-l", user, "-s", "/bin/sh", "-c", WRITE, "cay-key", name(instance));
        try {
            var process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (var in = process.getOutputStream()) {
                in.write((key + "\n").getBytes(StandardCharsets.US_ASCII));
            }
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException("runuser did not succeed");
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the API key could not be saved in the home of %s".formatted(user), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while saving the API key", e);
        }
    }
}
