package dev.cay.config;

import java.util.List;

/// A configuration, and where each part of it came from.
public record LoadedConfig(CayConfig config, List<Setting> settings) {
    public LoadedConfig {
        settings = List.copyOf(settings);
    }

    /// @param text   as it was written
    /// @param source `default`, a variable, an option, or file and line
    public record Setting(ConfigKey<?> key, String text, String source) {}
}
