package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "logs",
        mixinStandardHelpOptions = true,
        description = "Show what the daemon wrote to its log.",
        footer = {"", "Examples:", "  sudo ./cay logs -n 50", "  sudo ./cay logs -f | grep i1a2b3c4"})
final class LogsCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "-f", description = "Go on showing what is written.")
    private boolean follow;

    @Option(names = "-n", paramLabel = "LINES", description = "How many lines back (default: ${DEFAULT-VALUE}).")
    private int lines = 100;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path file = DaemonLog.file(options.config().stateDir());
        if (!Root.here() && !Files.isReadable(file)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "%s is root's to read; run: sudo %s".formatted(file, options.command("logs")));
        }
        if (!Files.exists(file)) {
            throw new CayException(
                    ErrorKind.NOT_FOUND, "there is no log yet: Cay was never started with this state directory");
        }
        // tail knows how to follow a file that is rotated.
        var command = new ArrayList<>(List.of("tail", "-n", Integer.toString(Math.max(0, lines))));
        if (follow) {
            command.addAll(List.of("-F", "--pid=" + ProcessHandle.current().pid()));
        }
        command.add(file.toString());
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
