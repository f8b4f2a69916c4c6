package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "authorize",
        mixinStandardHelpOptions = true,
        description = {
            "Let a sandbox use a remote MCP server that wants its user to sign in (OAuth).",
            "",
            "Prints an address to open in a browser, and waits until the server is authorized.",
            "If the browser cannot reach this Cay afterwards, paste the address at which it",
            "ended here. Needs no root."
        },
        footer = {"", "Examples:", "  ./cay mcp authorize ID notionRemote", "  ./cay mcp authorize ID wiki --no-wait"})
final class McpAuthorizeCommand implements Callable<Integer> {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Duration PAUSE = Duration.ofSeconds(2);

    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Parameters(index = "0", paramLabel = "SANDBOX", description = "Id of the sandbox.")
    private String sandbox = "";

    @Parameters(index = "1", paramLabel = "KEY", description = "Key of the server, as in `mcp: {KEY: {...}}`.")
    private String server = "";

    @Option(names = "--no-wait", description = "Print the address and end.")
    private boolean noWait;

    @Override
    public Integer call() throws IOException, InterruptedException {
        var api = Api.of(options);
        var state = ask(api);
        String url = state.path("authorize").asString("");
        if (url.isEmpty()) {
            return report(state);
        }
        System.out.println(url);
        if (noWait) {
            return 0;
        }
        System.err.println("Open this in a browser. This command ends when the server is authorized. If the browser"
                + " cannot\nreach this Cay then, paste the address at which it ended here.");
        return await(api);
    }

    private JsonNode ask(Api api) {
        String path = "/sandboxes/%s/mcp/%s/authorize".formatted(encoded(sandbox), encoded(server));
        return api.call("POST", path, null);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /// What is pasted is looked at as soon as it comes.
    private int await(Api api) throws InterruptedException {
        var pasted = new LinkedBlockingQueue<String>();
        Thread.ofVirtual().name("pasted").start(() -> readLines(pasted));
        long end = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < end) {
            String line = pasted.poll(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            if (line != null) {
                bring(api, line);
            }
            var state = ask(api);
            String word = state.path("state").asString("");
            if (state.path("authorize").asString("").isEmpty() && !word.equals("starting")) {
                return report(state);
            }
        }
        throw new CayException(
                ErrorKind.DEADLINE_EXCEEDED,
                "%s was not authorized within %d minutes".formatted(server, LIMIT.toMinutes()));
    }

    private static void readLines(LinkedBlockingQueue<String> lines) {
        try {
            var reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!line.isBlank()) {
                    lines.add(line.strip());
                }
            }
        } catch (IOException e) {
            // Then nothing is pasted.
        }
    }

    /// Does what the browser could not.
    private static void bring(Api api, String line) {
        var query = query(line);
        if (query.isEmpty()) {
            System.err.println(
                    "cay: this is not the address of the page at which the browser ended; it has state= in it");
            return;
        }
        try {
            api.call("GET", "/mcp/oauth/callback?" + query.get(), null);
        } catch (CayException e) {
            System.err.println("cay: " + e.userMessage());
        }
    }

    static Optional<String> query(String line) {
        try {
            return Optional.ofNullable(new URI(line).getRawQuery()).filter(query -> ("&" + query).contains("&state="));
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    private int report(JsonNode state) {
        String word = state.path("state").asString("");
        if (word.equals("ready")) {
            System.out.println(server + " is ready");
            return 0;
        }
        String reason = state.path("reason").asString("");
        System.err.println("cay: %s is not ready: %s".formatted(server, reason.isEmpty() ? word : reason));
        return 1;
    }
}
