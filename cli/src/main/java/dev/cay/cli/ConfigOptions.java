package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.config.ConfigLoader;
import dev.cay.config.LoadedConfig;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// What every command takes that needs to know where Cay's things lie.
public final class ConfigOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration to read (default: $CAY_CONFIG, else /etc/cay/cay.yaml if there is one).")
    private @Nullable Path file;

    public CayConfig config() {
        return load(Map.of()).config();
    }

    LoadedConfig load(Map<String, String> options) {
        return ConfigLoader.load(file, System.getenv(), options);
    }
}
