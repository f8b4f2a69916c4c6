package dev.cay.cli;

import dev.cay.cli.doctor.DoctorCommand;
import dev.cay.wire.CayException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/// Names every command. A failure is one sentence on standard error and a nonzero code; where it came from is in the
/// log, not on the user's screen.
@Command(
        name = "cay",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.class,
        description = "Gives AI agents computers of their own, spoken to by E2B's unmodified clients.",
        subcommands = {
            UpCommand.class,
            DownCommand.class,
            EnvCommand.class,
            DoctorCommand.class,
            ConfigCommand.class,
            LogsCommand.class,
            VersionCommand.class,
            WarmUpCommand.class
        })
public final class Main implements Runnable {
    /// Wrong words on the command line, as is usual for shells.
    static final int USAGE = 2;

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    static int run(String... arguments) {
        var line = new CommandLine(new Main());
        line.setExecutionExceptionHandler((failure, _, _) -> report(failure, System.err));
        line.setParameterExceptionHandler((problem, _) -> refuse(problem));
        return line.execute(arguments);
    }

    /// Help of the whole is the launcher's; this is seen only when somebody starts the jar by hand.
    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    static int report(Exception failure, PrintStream errors) {
        if (failure instanceof CayException known) {
            known.userMessage().lines().forEach(line -> errors.println("cay: " + line));
        } else {
            String message = failure.getMessage();
            errors.println("cay: unexpected %s%s; `cay logs` may say more"
                    .formatted(failure.getClass().getSimpleName(), message == null ? "" : ": " + message));
        }
        LoggerFactory.getLogger(Main.class).atInfo().setCause(failure).log("command failed");
        return 1;
    }

    private static int refuse(ParameterException problem) {
        var errors = new PrintStream(System.err, true, StandardCharsets.UTF_8);
        errors.println("cay: " + problem.getMessage());
        var suggestion = new java.io.PrintWriter(errors, true, StandardCharsets.UTF_8);
        CommandLine.UnmatchedArgumentException.printSuggestions(problem, suggestion);
        String command = problem.getCommandLine().getCommandSpec().qualifiedName();
        errors.println("Try: " + command + " --help");
        return USAGE;
    }
}
