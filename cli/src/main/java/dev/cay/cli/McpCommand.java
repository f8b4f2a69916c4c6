package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.PortHolder;
import dev.cay.cli.local.RunFile;
import dev.cay.mcp.ServerSettings;
import dev.cay.mcp.Serving;
import dev.cay.sdk.SandboxException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "mcp",
        mixinStandardHelpOptions = true,
        description = {
            "Offer sandboxes as tools to an MCP client, on standard input and output, or with",
            "--http to many, each of which has its API key as bearer token.",
            "",
            "Uses the Cay that runs here, or the one that E2B_API_KEY, E2B_DOMAIN,",
            "E2B_API_URL and E2B_SANDBOX_URL name, also in a file .env. Its sandboxes end",
            "with it. Needs no root."
        },
        subcommands = {McpAuthorizeCommand.class, McpCatalogCommand.class, McpInstallCommand.class},
        footer = {
            "",
            "Also read: MAX_ACTIVE_SANDBOXES (10), DEFAULT_SANDBOX_TIMEOUT_MS (300000),",
            "MIN_SANDBOX_TIMEOUT_MS (1000), MAX_SANDBOX_TIMEOUT_MS (3600000),",
            "SANDBOX_TEMPLATE (code-interpreter-v1) and LOG_LEVEL (INFO). docs/mcp.md has",
            "the settings for clients.",
            "",
            "Examples:",
            "  ./cay mcp install claude-code",
            "  ./cay mcp --http --port 8090",
            "  ./cay mcp catalog search jira",
            "  ./cay mcp authorize ID wiki"
        })
final class McpCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Option(names = "--http", description = "Serve over HTTP instead, at the path /mcp.")
    private boolean http;

    @Option(names = "--port", paramLabel = "N", description = "With --http: where; 0 picks one (${DEFAULT-VALUE}).")
    private int port = Serving.USUAL_PORT;

    @Option(names = "--listen", paramLabel = "A", description = "With --http: on which address (${DEFAULT-VALUE}).")
    private String listen = Serving.USUAL_ADDRESS;

    @Option(names = "--host", paramLabel = "NAME", description = "With --http: by which other names it is reached.")
    private List<String> hosts = List.of();

    @Override
    public Integer call() throws IOException {
        var settings = settings();
        DaemonLog.tellConsole(settings.logLevel());
        if (http) {
            serveHttp(settings);
            return 0;
        }
        if (atTerminal()) {
            System.err.println("This speaks MCP and is meant to be started by a client: see ./cay mcp --help");
        }
        Serving.overPipes(settings);
        return 0;
    }

    private void serveHttp(ServerSettings settings) throws IOException {
        if (port < 0 || port > 65_535) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "--port must be a number from 0 to 65535, not %d".formatted(port));
        }
        try {
            Serving.overHttp(settings, new Serving.Listening(listen, port, hosts));
        } catch (CayException e) {
            boolean taken = e.getCause() instanceof BindException
                    && PortHolder.find(port).isPresent();
            throw taken ? new CayException(ErrorKind.UNAVAILABLE, Listening.taken(port, "--port"), e) : e;
        }
    }

    private ServerSettings settings() {
        try {
            var environment = environment();
            // Only the clients' keys are used, but the address of the platform must be set.
            boolean keyless = http && (environment.containsKey("E2B_API_URL") || environment.containsKey("E2B_DOMAIN"));
            return keyless
                    ? ServerSettings.readWithoutKey(environment, Path.of(""))
                    : ServerSettings.read(environment, Path.of(""));
        } catch (SandboxException e) {
            String where = e.kind() == SandboxException.Kind.UNAUTHORIZED
                    ? "no Cay runs here: start it with `sudo %s`, or set E2B_API_KEY to use another"
                            .formatted(options.command("up"))
                    : String.valueOf(e.getMessage());
            throw new CayException(ErrorKind.INVALID_ARGUMENT, where, e);
        }
    }

    /// Java versions differ in whether there is a console without a terminal.
    @SuppressWarnings("SystemConsoleNull")
    private static boolean atTerminal() {
        var console = System.console();
        return console != null && console.isTerminal();
    }

    /// The environment. Without a key it is that of the Cay on this machine, if it runs.
    private Map<String, String> environment() {
        var environment = new HashMap<>(System.getenv());
        boolean elsewhere = http && environment.containsKey("E2B_API_URL");
        if (!environment.containsKey("E2B_API_KEY") && !elsewhere) {
            var config = options.config();
            RunFile.findReadable(config.runDir())
                    .ifPresent(daemon -> environment.putAll(ClientEnvironment.variables(
                            daemon, Api.ownKey(config.instance()), ClientEnvironment.Mode.BOTH)));
        }
        return environment;
    }
}
