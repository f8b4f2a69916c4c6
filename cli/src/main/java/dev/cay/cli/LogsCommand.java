package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.Root;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "logs",
        mixinStandardHelpOptions = true,
        description = "Show what the daemon wrote to its log, or with --sandbox the log of a sandbox.",
        footer = {
            "",
            "The daemon's log needs root. A sandbox's log needs your API key, and is kept for a week after its end.",
            "",
            "Examples:",
            "  sudo ./cay logs -n 50",
            "  ./cay logs --sandbox ID -f",
            "  ./cay logs --sandbox ID --since 1h --level warn --search npm"
        })
final class LogsCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "-f", description = "Go on showing what is written.")
    private boolean follow;

    @Option(names = "-n", paramLabel = "LINES", description = "How many lines back (default: ${DEFAULT-VALUE}).")
    private int lines = 100;

    @Option(names = "--sandbox", paramLabel = "ID", description = "The log of this sandbox instead.")
    private @Nullable String sandbox;

    @Option(names = "--since", paramLabel = "TIME", description = "With --sandbox: 90s, 30m, 12h, 7d back.")
    private @Nullable String since;

    @Option(
            names = "--level",
            paramLabel = "LEVEL",
            description = "With --sandbox: debug, info, warn or error, or worse.")
    private @Nullable String level;

    @Option(names = "--search", paramLabel = "TEXT", description = "With --sandbox: lines with this text.")
    private @Nullable String search;

    @Option(names = "--json", description = "With --sandbox: lines of JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (lines < 0 || (sandbox != null && lines > SandboxLogPrinter.MOST)) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "-n must be at least 0, and with --sandbox at most %d, not %d"
                            .formatted(SandboxLogPrinter.MOST, lines));
        }
        if (sandbox != null) {
            var from = since == null ? null : Instant.now().minus(KeyCommand.duration(since));
            var log = new SandboxLogPrinter(Api.of(options), sandbox, level, search, json);
            return follow ? log.follow(from, lines) : log.show(from, lines);
        }
        if (since != null || level != null || search != null || json) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "--since, --level, --search and --json are for --sandbox; use grep here");
        }
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
        var command = new ArrayList<>(List.of("tail", "-n", Integer.toString(lines)));
        if (follow) {
            command.addAll(List.of("-F", "--pid=" + ProcessHandle.current().pid()));
        }
        command.add(file.toString());
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
