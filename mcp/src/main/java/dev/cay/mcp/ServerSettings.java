package dev.cay.mcp;

import dev.cay.sdk.Settings;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Settings of the tool server, from environment variables.
///
/// @param sandboxes address of the platform
/// @param most      most sandboxes of a client
/// @param lifetimes allowed lifetimes
/// @param template  template of the sandboxes
/// @param logLevel  as logging libraries name it
public record ServerSettings(Settings sandboxes, int most, Lifetimes lifetimes, String template, String logLevel) {
    private static final Set<String> LEVELS = Set.of("DEBUG", "INFO", "WARNING", "ERROR");

    /// Variables of the process come before those in a file `.env` in its directory.
    public static ServerSettings read(Map<String, String> environment, Path directory) {
        return of(all(environment, directory));
    }

    /// The settings for a server whose clients bring their keys.
    public static ServerSettings readWithoutKey(Map<String, String> environment, Path directory) {
        var all = all(environment, directory);
        all.put("E2B_API_KEY", "is the client's");
        return of(all);
    }

    private static Map<String, String> all(Map<String, String> environment, Path directory) {
        var all = new HashMap<>(dotEnv(directory.resolve(".env")));
        all.putAll(environment);
        return all;
    }

    private static ServerSettings of(Map<String, String> all) {
        return new ServerSettings(
                Settings.from(all),
                most(given(all, "MAX_ACTIVE_SANDBOXES").orElse("10")),
                Lifetimes.of(name -> given(all, name)),
                given(all, "SANDBOX_TEMPLATE").orElse("code-interpreter-v1"),
                level(given(all, "LOG_LEVEL").orElse("INFO")));
    }

    /// The value of a variable; an empty one counts as missing, as in a settings file that is not filled in yet.
    private static Optional<String> given(Map<String, String> all, String name) {
        return Optional.ofNullable(all.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    private static int most(String text) {
        if (!text.matches("[1-9][0-9]{0,4}")) {
            throw Lifetimes.invalid("MAX_ACTIVE_SANDBOXES must be a number from 1 to 99999, not '%s'".formatted(text));
        }
        return Integer.parseInt(text);
    }

    private static String level(String text) {
        String level = text.toUpperCase(Locale.ROOT);
        if (!LEVELS.contains(level)) {
            throw Lifetimes.invalid(
                    "LOG_LEVEL must be one of DEBUG, INFO, WARNING and ERROR, not '%s'".formatted(text));
        }
        return level.equals("WARNING") ? "WARN" : level;
    }

    /// Lines of NAME=VALUE, where the value may be in quotes; others are comments or nothing.
    private static Map<String, String> dotEnv(Path file) {
        var variables = new HashMap<String, String>();
        if (!Files.isReadable(file)) {
            return variables;
        }
        try {
            for (String line : Files.readAllLines(file)) {
                String text = line.strip().replaceFirst("^export\\s+", "");
                int equals = text.indexOf('=');
                if (equals > 0 && !text.startsWith("#")) {
                    variables.put(
                            text.substring(0, equals).strip(),
                            unquoted(text.substring(equals + 1).strip()));
                }
            }
            return variables;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "cannot read %s".formatted(file), e);
        }
    }

    private static String unquoted(String value) {
        boolean quoted =
                value.length() > 1 && "\"'".indexOf(value.charAt(0)) >= 0 && value.endsWith(value.substring(0, 1));
        return quoted ? value.substring(1, value.length() - 1) : value;
    }
}
