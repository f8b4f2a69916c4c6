package dev.cay.node.interpreter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// What cells can be written in, and how its runner is started.
enum Language {
    PYTHON("/usr/bin/python3", "-P", "/opt/cay/runners/python/runner.py"),
    JAVASCRIPT("/bin/sh", "/opt/cay/runners/javascript/start", "javascript"),
    TYPESCRIPT("/bin/sh", "/opt/cay/runners/javascript/start", "typescript"),
    R("/usr/bin/python3", "-I", "-S", "/opt/cay/runners/r/runner.py"),
    JAVA("/opt/java/bin/java", "@/opt/cay/runners/java/options", "dev.cay.runner.JavaRunner"),
    BASH("/usr/bin/python3", "-I", "-S", "/opt/cay/runners/bash/runner.py");

    private static final String WARM = "warm";

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> command;

    Language(String... command) {
        this.command = List.of(command);
    }

    /// Clients write names as they like.
    static Optional<Language> named(String text) {
        String name = text.strip().toLowerCase(Locale.ROOT);
        String full = switch (name) {
            case "" -> "python";
            case "js" -> "javascript";
            case "ts" -> "typescript";
            default -> name;
        };
        return Stream.of(values())
                .filter(language -> language.label().equals(full))
                .findFirst();
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Whether new sandboxes have a context of it from the start.
    boolean isEager() {
        return this == PYTHON || this == JAVASCRIPT;
    }

    /// Whether a directory that is not there is no reason to refuse a context.
    boolean goesAnywhere() {
        return this == PYTHON;
    }

    List<String> command(boolean warm) {
        if (!warm) {
            return command;
        }
        var words = new ArrayList<>(command);
        words.add(WARM);
        return words;
    }
}
