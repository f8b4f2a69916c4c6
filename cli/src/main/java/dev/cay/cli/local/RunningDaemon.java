package dev.cay.cli.local;

import dev.cay.config.CayConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/// The daemon of a configuration, as a client reaches it.
///
/// @param url plain HTTP base
public record RunningDaemon(URI url, String key) {
    /// Empty when none runs, or the caller has no key for it.
    public static Optional<RunningDaemon> find(CayConfig config) throws IOException {
        Path home = Path.of(System.getenv().getOrDefault("HOME", System.getProperty("user.home")));
        var daemon = RunFile.find(config.runDir());
        var key = KeyFile.read(home, config.instance());
        return daemon.isEmpty() || key.isEmpty()
                ? Optional.empty()
                : Optional.of(new RunningDaemon(URI.create(daemon.get().url()), key.get()));
    }
}
