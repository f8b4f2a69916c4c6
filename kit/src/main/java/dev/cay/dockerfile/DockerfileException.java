package dev.cay.dockerfile;

import java.util.List;
import java.util.stream.Collectors;

/// The only exception of this package. Its message has one line for each problem, as `file:line:column: what; fix`.
public final class DockerfileException extends RuntimeException {
    private final transient List<Problem> problems;

    DockerfileException(List<Problem> problems) {
        this(problems, 0);
    }

    /// @param more how many problems are not in the list
    DockerfileException(List<Problem> problems, int more) {
        super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n"))
                + (more == 0 ? "" : "\nand %d more problems".formatted(more)));
        this.problems = List.copyOf(problems);
    }

    DockerfileException(String file, Position at, String what, String fix) {
        this(List.of(new Problem(file, at, what, fix)));
    }

    public List<Problem> problems() {
        return problems;
    }

    /// @param what what is wrong
    /// @param fix  what the author of the file can do about it
    public record Problem(String file, Position at, String what, String fix) {
        @Override
        public String toString() {
            return "%s:%s: %s; %s".formatted(file, at, what, fix);
        }
    }
}
