package dev.cay.dockerfile;

import java.util.List;

/// What RUN, CMD, ENTRYPOINT or HEALTHCHECK execute.
public sealed interface CommandLine {
    /// Text for the stage's shell. It has the heredocs of the instruction in it, as the shell itself reads them.
    record Shell(String text) implements CommandLine {}

    /// A program and its arguments, started without a shell.
    record Exec(List<String> arguments) implements CommandLine {
        public Exec {
            arguments = List.copyOf(arguments);
        }
    }

    /// A file that begins with `#!`: to be written to an executable file and started by its name.
    record Script(String content) implements CommandLine {}
}
