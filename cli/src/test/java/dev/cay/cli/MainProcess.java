package dev.cay.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The program as a process of its own, as people start it.
final class MainProcess {
    private MainProcess() {}

    /// @param directory where the test's `cay.yaml` lies
    static List<String> command(Path directory, String... arguments) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--config", directory.resolve("cay.yaml").toString()));
        return command;
    }
}
