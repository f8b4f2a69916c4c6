package dev.cay.dockerfile;

import java.util.List;

/// The command of RUN, CMD, ENTRYPOINT or HEALTHCHECK.
public sealed interface CommandLine {
    /// Text for the stage's shell. It has the heredocs of the instruction in it, as the shell itself reads them.
    record Shell(String text) implements CommandLine {}

    /// A program and its arguments, started without a shell.
    record Exec(List<String> arguments) implements CommandLine {
        public Exec {
            arguments = List.copyOf(arguments);
        }
    }

    /// A script that begins with `#!`. The builder writes it to an executable file and starts that file.
    record Script(String content) implements CommandLine {}
}
