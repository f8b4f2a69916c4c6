package dev.cay.node.interpreter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// A language of cells, and how its runner is started.
enum Language {
    PYTHON("/usr/bin/python3", List.of(), "/opt/cay/runners/python/runner.py"),
    JAVASCRIPT("/usr/local/bin/node", Start.NODE, "javascript"),
    TYPESCRIPT("/usr/local/bin/node", Start.NODE, "typescript"),
    R("/usr/bin/python3", List.of(), "-I", "-S", "/opt/cay/runners/r/runner.py"),
    JAVA("/opt/java/bin/java", List.of(), "@/opt/cay/runners/java/options", "dev.cay.runner.JavaRunner"),
    BASH("/usr/bin/python3", List.of(), "-I", "-S", "/opt/cay/runners/bash/runner.py");

    /// Words before a program's path.
    private static final class Start {
        /// Node needs descriptors that only a shell can lay out.
        private static final List<String> NODE = List.of("/bin/sh", "/opt/cay/runners/javascript/start");
    }

    private static final String WARM = "warm";

    private final String program;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> before;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> arguments;

    /// @param program   default program of the runner
    /// @param before    words before the program's path
    /// @param arguments words after it
    Language(String program, List<String> before, String... arguments) {
        this.program = program;
        this.before = before;
        this.arguments = List.of(arguments);
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

    /// The path of the program that runs the runner in Cay's own templates.
    String program() {
        return program;
    }

    /// @param program the path of the program that runs the runner
    List<String> command(String program, boolean warm) {
        var words = new ArrayList<>(before);
        words.add(program);
        words.addAll(arguments);
        if (warm) {
            words.add(WARM);
        }
        return words;
    }
}
