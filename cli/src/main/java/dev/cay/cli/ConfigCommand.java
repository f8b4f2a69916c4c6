package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.config.LoadedConfig;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        description = "Print every setting: its value, where that comes from, its default and what it means.",
        footer = {
            "",
            "Settings are read from the file, then from CAY_ variables: http.tlsPort is CAY_HTTP_TLS_PORT.",
            "Times are written like 5m, sizes like 20GB, lists in a variable with commas.",
            "",
            "Examples:",
            "  ./cay config",
            "  CAY_HTTP_PORT=4000 ./cay config | grep -A2 http.port"
        })
final class ConfigCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() {
        for (LoadedConfig.Setting setting : options.load(Map.of()).settings()) {
            System.out.println(describe(setting));
        }
        return 0;
    }

    static String describe(LoadedConfig.Setting setting) {
        var key = setting.key();
        String value = setting.text().isEmpty() ? "(unset)" : key.shown(setting.text());
        String fallback = key.fallback().isEmpty() ? "unset" : key.shown(key.fallback());
        String source = setting.source().equals("default")
                ? "the default"
                : "from %s; default %s".formatted(setting.source(), fallback);
        return "%s: %s   # %s%n    %s%n    %s%n"
                .formatted(key.name(), value, source, key.meaning(), "Variable: " + key.variable());
    }
}
