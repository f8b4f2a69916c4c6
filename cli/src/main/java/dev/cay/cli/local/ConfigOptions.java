package dev.cay.cli.local;

import dev.cay.config.CayConfig;
import dev.cay.config.ConfigLoader;
import dev.cay.config.LoadedConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of every command that needs the configuration.
public final class ConfigOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration to read (default: $CAY_CONFIG, else /etc/cay/cay.yaml if there is one).")
    private @Nullable Path file;

    public CayConfig config() {
        return load(Map.of()).config();
    }

    /// The file that is read, if there is one.
    public Optional<Path> file() {
        String variable = System.getenv().getOrDefault(ConfigLoader.FILE_VARIABLE, "");
        Path read = file != null ? file : variable.isEmpty() ? ConfigLoader.DEFAULT_FILE : Path.of(variable);
        return Optional.of(read).filter(Files::exists);
    }

    /// Whether it is the file that a service without options reads.
    public boolean isUsual() {
        return file == null
                && System.getenv().getOrDefault(ConfigLoader.FILE_VARIABLE, "").isEmpty();
    }

    /// A command to be shown to the user, with the file that was named for this one: without it the command would be
    /// about another Cay. A file that $CAY_CONFIG names is written out too, as `sudo` takes the environment away.
    public String command(String words) {
        String variable = System.getenv().getOrDefault(ConfigLoader.FILE_VARIABLE, "");
        return command(words, file != null || variable.isEmpty() ? file : Path.of(variable));
    }

    public static String command(String words, @Nullable Path file) {
        if (file == null) {
            return "./cay " + words;
        }
        String path = file.toAbsolutePath().normalize().toString();
        boolean plain = path.matches("[\\w./@%+,:=-]+");
        return "./cay %s --config %s".formatted(words, plain ? path : "'%s'".formatted(path.replace("'", "'\\''")));
    }

    public LoadedConfig load(Map<String, String> options) {
        return ConfigLoader.load(file, System.getenv(), options);
    }
}
