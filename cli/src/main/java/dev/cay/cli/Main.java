package dev.cay.cli;

import dev.cay.cli.doctor.DoctorCommand;
import dev.cay.wire.CayException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
        description = "Gives AI agents computers of their own, spoken to by E2B's unmodified clients.")
public final class Main implements Runnable {
    /// Wrong words on the command line, as is usual for shells.
    static final int USAGE = 2;

    private static final Map<String, Supplier<Callable<Integer>>> COMMANDS = commands();

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    static int run(String... arguments) {
        var line = commandLine(arguments);
        line.setExecutionExceptionHandler((failure, _, _) -> report(failure, System.err));
        line.setParameterExceptionHandler((problem, _) -> refuse(problem));
        return line.execute(arguments);
    }

    /// Knows only the command that is asked for, if there is one of that name: to describe them all takes longer than
    /// most of them need.
    static CommandLine commandLine(String... arguments) {
        var line = new CommandLine(new Main());
        String asked = arguments.length > 0 && COMMANDS.containsKey(arguments[0]) ? arguments[0] : null;
        COMMANDS.forEach((name, command) -> {
            if (asked == null || asked.equals(name)) {
                line.addSubcommand(name, command.get());
            }
        });
        return line.setCaseInsensitiveEnumValuesAllowed(true);
    }

    /// Those that can be described where measurements and proofs are not on the class path, as for the daemon.
    private static Stream<CommandLine> commandsWithoutProofs() {
        return COMMANDS.keySet().stream()
                .filter(name -> !name.equals("bench") && !name.equals("prove"))
                .map(Main::commandLine);
    }

    private static Map<String, Supplier<Callable<Integer>>> commands() {
        var commands = new LinkedHashMap<String, Supplier<Callable<Integer>>>();
        commands.put("up", UpCommand::new);
        commands.put("down", DownCommand::new);
        commands.put("env", EnvCommand::new);
        commands.put("doctor", DoctorCommand::new);
        commands.put("config", ConfigCommand::new);
        commands.put("logs", LogsCommand::new);
        commands.put("sandbox", SandboxCommand::new);
        commands.put("template", TemplateCommand::new);
        commands.put("secret", SecretCommand::new);
        commands.put("volume", VolumeCommand::new);
        commands.put("webhook", WebhookCommand::new);
        commands.put("mcp", McpCommand::new);
        commands.put("audit", AuditCommand::new);
        commands.put("team", TeamCommand::new);
        commands.put("person", PersonCommand::new);
        commands.put("login", LoginCommand::new);
        commands.put("key", KeyCommand::new);
        commands.put("admin-token", AdminTokenCommand::new);
        commands.put("pool", PoolCommand::new);
        commands.put("store", StoreCommand::new);
        commands.put("backup", BackupCommand::new);
        commands.put("restore", RestoreCommand::new);
        commands.put("support", SupportCommand::new);
        commands.put("uninstall", UninstallCommand::new);
        commands.put("bench", BenchCommand::new);
        commands.put("prove", ProveCommand::new);
        commands.put("version", VersionCommand::new);
        commands.put("warm-up", () -> new WarmUpCommand(Main::commandsWithoutProofs));
        commands.put("tidy", TidyCommand::new);
        return commands;
    }

    /// Prints a short help. The launcher has its own; this is seen only when the jar is started by hand.
    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    static int report(Exception failure, PrintStream errors) {
        if (failure instanceof CayException known) {
            known.userMessage().lines().forEach(line -> errors.println("cay: " + line));
        } else if (failure instanceof FileSystemException file && file.getFile() != null) {
            errors.println("cay: %s: %s".formatted(file.getFile(), reason(file)));
        } else {
            String message = failure.getMessage();
            errors.println("cay: unexpected %s%s; `cay logs` may say more"
                    .formatted(failure.getClass().getSimpleName(), message == null ? "" : ": " + message));
        }
        LoggerFactory.getLogger(Main.class).atInfo().setCause(failure).log("command failed");
        return 1;
    }

    /// The exceptions of Java name only the file.
    private static String reason(FileSystemException failure) {
        return switch (failure) {
            case NoSuchFileException _ -> "there is no such file or directory";
            case AccessDeniedException _ -> "you may not read or write it";
            case FileAlreadyExistsException _ -> "it is there already";
            default ->
                Objects.requireNonNullElse(
                        failure.getReason(), failure.getClass().getSimpleName());
        };
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
