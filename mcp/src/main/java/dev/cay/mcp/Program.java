package dev.cay.mcp;

import dev.cay.sdk.SandboxException;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Path;

/// The server as a program of its own, for any machine with Java: `java -jar cay-mcp.jar`.
public final class Program {
    private static final int USAGE = 2;

    private static final String HELP = """
            Offer sandboxes as tools to MCP clients.

              java -jar cay-mcp.jar                 for a client that starts it: on standard input and output
              java -jar cay-mcp.jar --http          over HTTP; each client's bearer token is its API key

              --port N       where to listen (8090; 0 picks one)
              --listen A     on which address (127.0.0.1)
              --host NAME    by which other name clients may reach it; may be repeated
              --help         this

            Reads E2B_API_KEY (not with --http), E2B_DOMAIN, E2B_API_URL, E2B_SANDBOX_URL, MAX_ACTIVE_SANDBOXES (10),
            DEFAULT_SANDBOX_TIMEOUT_MS (300000), MIN_SANDBOX_TIMEOUT_MS (1000), MAX_SANDBOX_TIMEOUT_MS (3600000),
            SANDBOX_TEMPLATE (code-interpreter-v1) and LOG_LEVEL (INFO), also from a file .env.
            """;

    private Program() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String... arguments) {
        try {
            var asked = Options.of(arguments);
            if (asked.help()) {
                System.out.print(HELP);
                return 0;
            }
            serve(asked);
            return 0;
        } catch (CayException | SandboxException | IOException e) {
            System.err.println("cay-mcp: " + e.getMessage());
            return e instanceof Options.Unknown ? USAGE : 1;
        }
    }

    private static void serve(Options asked) throws IOException {
        var environment = System.getenv();
        var settings = asked.http()
                ? ServerSettings.readWithoutKey(environment, Path.of(""))
                : ServerSettings.read(environment, Path.of(""));
        // The logging library reads this property at its first use.
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", settings.logLevel());
        System.setProperty("org.slf4j.simpleLogger.log.org.eclipse.jetty", "WARN");
        if (asked.http()) {
            Serving.overHttp(settings, asked.listening());
        } else {
            Serving.overPipes(settings);
        }
    }
}
