package dev.cay.cli;

import dev.cay.platform.CayProgram;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The program as a process of its own, as people start it.
final class MainProcess {
    private MainProcess() {}

    /// @param directory where the test's `cay.yaml` lies
    static List<String> command(Path directory, String... arguments) {
        var command = new ArrayList<>(CayProgram.command(arguments));
        command.addAll(List.of("--config", directory.resolve("cay.yaml").toString()));
        return command;
    }
}
