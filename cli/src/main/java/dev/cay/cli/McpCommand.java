package dev.cay.cli;

import dev.cay.mcp.SandboxServer;
import dev.cay.mcp.ServerSettings;
import dev.cay.sdk.SandboxException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "mcp",
        mixinStandardHelpOptions = true,
        description = {
            "Offer sandboxes as tools to an MCP client, on standard input and output.",
            "",
            "Uses the Cay that runs here, or the one that E2B_API_KEY, E2B_DOMAIN,",
            "E2B_API_URL and E2B_SANDBOX_URL name, also in a file .env. Its sandboxes end",
            "with it. Needs no root."
        },
        subcommands = {McpCatalogCommand.class, McpInstallCommand.class},
        footer = {
            "",
            "Also read: MAX_ACTIVE_SANDBOXES (10), SANDBOX_TEMPLATE (code-interpreter-v1)",
            "and LOG_LEVEL (INFO). docs/mcp.md has the settings for clients.",
            "",
            "Examples:",
            "  ./cay mcp install claude-code",
            "  ./cay mcp catalog search jira"
        })
final class McpCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() throws IOException {
        var settings = settings();
        DaemonLog.tellConsole(settings.logLevel());
        if (atTerminal()) {
            System.err.println("This speaks MCP and is meant to be started by a client: see ./cay mcp --help");
        }
        var out = System.out;
        // Whatever prints by mistake must not end up between messages.
        System.setOut(System.err);
        new SandboxServer(settings).serve(System.in, out);
        return 0;
    }

    private ServerSettings settings() {
        try {
            return ServerSettings.read(environment(), Path.of(""));
        } catch (SandboxException e) {
            String where = e.kind() == SandboxException.Kind.UNAUTHORIZED
                    ? "no Cay runs here: start it with `sudo ./cay up`, or set E2B_API_KEY to use another"
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

    /// Whoever names no key means the Cay on this machine, if it runs.
    private Map<String, String> environment() {
        var environment = new HashMap<>(System.getenv());
        if (!environment.containsKey("E2B_API_KEY")) {
            var config = options.config();
            RunFile.findReadable(config.runDir())
                    .ifPresent(daemon -> environment.putAll(ClientEnvironment.variables(
                            daemon, Api.ownKey(config.instance()), ClientEnvironment.Mode.BOTH)));
        }
        return environment;
    }
}
