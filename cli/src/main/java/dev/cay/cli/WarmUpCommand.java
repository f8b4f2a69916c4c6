package dev.cay.cli;

import dev.cay.cli.local.RunFile;
import dev.cay.config.ConfigLoader;
import dev.cay.wire.CayVersion;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// Does what every command and the daemon do, for the launcher's training run: which classes it loads is recorded, and
/// later starts find them already read, checked and linked. It leaves the host as it was.
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
    private final Supplier<Stream<CommandLine>> commands;

    /// @param commands those that can be described on the daemon's class path
    WarmUpCommand(Supplier<Stream<CommandLine>> commands) {
        this.commands = commands;
    }

    @Override
    public Integer call() throws Exception {
        var config = ConfigLoader.load(Path.of("/dev/null"), Map.of(), Map.of());
        config.settings().forEach(ConfigCommand::describe);
        var daemon = new RunFile(1, CayVersion.text(), "0", "http://x", "x:1", "/x", "/x", "/x");
        var variables = ClientEnvironment.variables(daemon, "e2b_0", ClientEnvironment.Mode.BOTH);
        for (var shell : ClientEnvironment.Shell.values()) {
            ClientEnvironment.write(variables, shell);
        }
        commands.get()
                .forEach(line -> line.getSubcommands()
                        .values()
                        .forEach(command -> command.getUsageMessage(CommandLine.Help.Ansi.OFF)));
        try (var rehearsal = new Rehearsal()) {
            rehearsal.run();
        }
        LoggerFactory.getLogger(WarmUpCommand.class).atInfo().log("warm");
        return 0;
    }
}
