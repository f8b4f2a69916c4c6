package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cay.node.host.Programs;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `cay template list` says is what the daemon says.
@Fast
final class TemplateCommandTest {
    private static final String TEMPLATES = """
            [{"names": ["base"], "buildStatus": "ready"},
             {"names": ["code-interpreter-v1"], "buildStatus": "building"},
             {"names": ["team/code-interpreter-lite"], "buildStatus": "ready"},
             {"names": ["team/tagged"], "buildStatus": "ready"},
             {"names": ["mcp-gateway"], "buildStatus": "error"}]
            """;

    /// What only single requests tell.
    private static final Map<String, String> DETAILS = Map.of(
            "/templates/team%2Fcode-interpreter-lite/tags",
            """
            [{"tag": "v1"}, {"tag": "default"}]""", "/templates/team%2Ftagged/tags", """
            [{"tag": "v2"}, {"tag": "v1"}]""", "/templates/codex", """
            {"names": ["codex"], "builds": [{"status": "ready"}]}""", "/templates/amp", """
            {"names": ["team/amp"], "builds": [{"status": "ready"}]}""");

    @TempDir
    private Path dir;

    @Test
    void asksTheDaemonThatRuns() throws Exception {
        var daemon = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        daemon.createContext("/v2/templates", exchange -> answer(exchange, TEMPLATES));
        daemon.createContext(
                "/templates/",
                exchange ->
                        answer(exchange, DETAILS.get(exchange.getRequestURI().getRawPath())));
        daemon.start();
        try {
            var api =
                    new Api(URI.create("http://127.0.0.1:" + daemon.getAddress().getPort()), "key");
            assertThat(TemplateCommand.lines(Optional.of(api), this::template))
                    .contains(
                            "base                     ready",
                            "code-interpreter-v1      being made: it waits or begins",
                            "code-interpreter-lite    not made yet, about 1,490 MB",
                            "claude                   not made yet, about 1,120 MB",
                            "mcp-gateway              could not be made; `cay logs` says why, and the next create tries again",
                            "codex                    ready",
                            "amp                      not made yet, about 870 MB",
                            "team/code-interpreter-lite ready",
                            "team/tagged              ready as team/tagged:v1, team/tagged:v2")
                    .hasSize(HouseTemplate.names().size() + 2);
        } finally {
            daemon.stop(0);
        }
    }

    @Test
    void looksIntoTheCacheWhenNoneRuns() {
        assertThat(TemplateCommand.lines(Optional.empty(), this::template))
                .hasSize(HouseTemplate.names().size())
                .allMatch(line -> line.contains("not made yet, about "));
    }

    /// @param text null for nothing that is there
    private static void answer(HttpExchange exchange, @Nullable String text) throws IOException {
        byte[] body = (text == null ? "{}" : text).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(text == null ? 404 : 200, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private HouseTemplate template(String name) {
        return new HouseTemplate(name, new LayerStore(dir), Programs.ofHost(), dir.resolve("logs"));
    }
}
