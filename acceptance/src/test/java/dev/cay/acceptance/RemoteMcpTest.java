package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.remote.RemoteCredentials;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.NeedsRoot;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/// A remote MCP server that others wrote, by both transports.
@Timeout(900)
@NeedsRoot
final class RemoteMcpTest {
    private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @ParameterizedTest
    @CsvSource({"streamableHttp, STREAMABLE_HTTP, /mcp, 2025-11-25", "sse, SSE, /sse, 2024-11-05"})
    void talksToServerEverything(String mode, ServerLaunch.Transport transport, String path, String revision)
            throws Exception {
        var client = NpmClient.install("@modelcontextprotocol/server-everything", "2026.8.31");
        String program = client.directory()
                .resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
                .toString();
        int port = freePort();
        var url = URI.create("http://127.0.0.1:%d%s".formatted(port, path));
        try (var server = NodeProgram.start(Map.of("PORT", Integer.toString(port)), List.of("node", program, mode));
                var dialer = new Dialer(Addresses.allowing(List.of("127.0.0.1")), Map.of());
                var home = new RemoteHome(
                        "everything",
                        new LaunchPlan.Remote(url, transport, Map.of()),
                        dialer,
                        RemoteCredentials.NONE,
                        () -> true)) {
            server.awaitLine(Integer.toString(port));
            var link = home.connect(listener());
            send(link, """
                    {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"%s",
                     "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}""".formatted(revision));
            assertThat(answer("a")).contains("\"protocolVersion\":\"" + revision + "\"");
            send(link, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
            send(link, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}");
            assertThat(answer("7")).contains("\"name\":\"echo\"");
            send(link, """
                    {"jsonrpc":"2.0","id":8,"method":"tools/call",
                     "params":{"name":"echo","arguments":{"message":"grüß"}}}""");
            assertThat(answer("8")).contains("Echo: grüß");
            send(link, """
                    {"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"trigger-long-running-operation",
                     "arguments":{"duration":1,"steps":2},"_meta":{"progressToken":"p"}}}""");
            assertThat(message("notifications/progress")).contains("\"progressToken\":\"p\"");
            assertThat(answer("9")).contains("completed");
            // Goes on after its answer, so what follows belongs to no request: by streamable HTTP that needs a stream
            // of its own.
            send(link, """
                    {"jsonrpc":"2.0","id":10,"method":"tools/call",
                     "params":{"name":"toggle-simulated-logging","arguments":{}}}""");
            assertThat(answer("10")).contains("Started simulated");
            assertThat(message("notifications/message")).contains("\"level\":\"", "\"data\":"); // any: it throws dice
            link.close();
        }
    }

    /// A server that wants its users to sign in, and an authorization server, both of the protocol's own SDK. A real
    /// sandbox, our command line, and a browser that follows where it is sent or does not reach this Cay.
    @Test
    void authorizesAServerThatOthersWrote(@TempDir Path directory) throws Exception {
        int port = freePort();
        var ports = Map.of("MCP_PORT", Integer.toString(port), "MCP_AUTH_PORT", Integer.toString(freePort()));
        String program = NpmClient.install("@modelcontextprotocol/sdk", "1.32.2")
                .directory()
                .resolve("node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js")
                .toString();
        new GatewayWorld()
                .remote("signedIn", "http://localhost:%d/mcp".formatted(port))
                .write(directory);
        var settings = Map.of(
                "mcp.catalogs", directory.resolve("servers.yaml").toString(), "mcp.remoteAddresses", "localhost");
        try (var server = NodeProgram.start(ports, List.of("node", program, "--oauth", "--oauth-strict"));
                var platform = OwnCay.start(settings);
                var cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)))) {
            server.awaitLine("MCP Streamable HTTP Server listening");
            var wanted = NewSandbox.of("base").withMcp(Map.of("signedIn", Map.of()));
            try (var followed = cay.create(wanted);
                    var pasted = cay.create(wanted)) {
                assertThat(state(followed)).contains("\"state\":\"needs authorization\"", "\"authorize\":\"http://");
                try (var command = Authorize.start(platform, followed.id())) {
                    assertThat(command.browse(HttpClient.Redirect.NORMAL).body())
                            .contains("The MCP server signedIn can be used by sandbox " + followed.id());
                    assertThat(command.end()).isEqualTo("signedIn is ready");
                }
                assertThat(state(followed)).contains("\"state\":\"ready\"").doesNotContain("authorize");
                assertThat(tried(platform, followed))
                        .as("what the node connects to for the sandbox")
                        .contains("\"protocol\":\"mcp\",\"name\":\"localhost\"", "\"port\":%d,".formatted(port));
                assertThat(state(pasted)).contains("\"state\":\"needs authorization\"");
                try (var command = Authorize.start(platform, pasted.id())) {
                    var back = command.browse(HttpClient.Redirect.NEVER);
                    command.paste(back.headers().firstValue("Location").orElseThrow());
                    assertThat(command.end()).isEqualTo("signedIn is ready");
                }
                platform.crash();
                platform.startAgain();
                assertThat(state(followed)).contains("\"state\":\"ready\"");
            }
        }
    }

    private static String tried(OwnCay platform, Sandbox sandbox) throws Exception {
        try (var client = HttpClient.newHttpClient()) {
            var log = HttpRequest.newBuilder(platform.url().resolve("/sandboxes/%s/egress".formatted(sandbox.id())))
                    .header("X-API-Key", platform.key())
                    .build();
            return client.send(log, HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    private static String state(Sandbox sandbox) {
        var told = sandbox.commands().run("mcp-gateway status").stdout();
        return JsonMapper.shared().readTree(told).toString();
    }

    /// The command `cay mcp authorize`, which waits for its user.
    private record Authorize(Process process, BufferedReader out, String link) implements AutoCloseable {
        static Authorize start(OwnCay platform, String sandbox) throws IOException {
            var process = platform.cay("mcp", "authorize", sandbox, "signedIn")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var out = process.inputReader(StandardCharsets.UTF_8);
            return new Authorize(process, out, String.valueOf(out.readLine()));
        }

        /// What the user's browser does with the address; the user of this server always agrees.
        HttpResponse<String> browse(HttpClient.Redirect redirects) throws Exception {
            try (var browser =
                    HttpClient.newBuilder().followRedirects(redirects).build()) {
                return browser.send(
                        HttpRequest.newBuilder(URI.create(link)).build(), HttpResponse.BodyHandlers.ofString());
            }
        }

        void paste(String address) throws IOException {
            var in = process.outputWriter(StandardCharsets.UTF_8);
            in.write(address + "\n");
            in.flush();
        }

        /// The last it says.
        String end() throws Exception {
            String last = String.valueOf(out.readLine());
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).isZero();
            return last;
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private ServerLink.Listener listener() {
        return new ServerLink.Listener() {
            @Override
            public void heard(Message message) {
                heard.add(new String(message.bytes(), StandardCharsets.UTF_8));
            }

            @Override
            public void over(String reason) {
                heard.add("over: " + reason);
            }
        };
    }

    private static void send(ServerLink link, String json) {
        link.send(Message.parse(json.getBytes(StandardCharsets.UTF_8)));
    }

    private String answer(String id) throws InterruptedException {
        return message("\"id\":" + (id.matches("\\d+") ? id : "\"" + id + "\""));
    }

    private String message(String part) throws InterruptedException {
        var others = new StringBuilder();
        for (String next = next(); next != null; next = next()) {
            if (next.contains(part)) {
                return next;
            }
            others.append(next, 0, Math.min(200, next.length())).append('\n');
        }
        throw new AssertionError("not heard: " + part + "; but\n" + others);
    }

    private @Nullable String next() throws InterruptedException {
        return heard.poll(30, TimeUnit.SECONDS);
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
