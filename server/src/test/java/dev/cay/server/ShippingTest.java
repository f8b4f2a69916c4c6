package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.server.log.OtlpSettings;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What a server sends of its sandboxes' logs.
@Fast
final class ShippingTest {
    @TempDir
    private Path directory = Path.of("unset");

    private final List<String> bodies = new CopyOnWriteArrayList<>();

    private HttpServer receiver;

    @BeforeEach
    void receive() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1/logs", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
    }

    @AfterEach
    void stop() {
        receiver.stop(0);
    }

    private TestServer shipping() throws IOException {
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort();
        return TestServer.shipping(directory, OtlpSettings.of(url, null));
    }

    @Test
    void linesAndEventsNameTeamSandboxAndTemplate() throws Exception {
        try (var cay = shipping()) {
            String id = cay.create();
            var line = new LogLine(cay.clock.instant(), LogLine.Level.INFO, "process", "Process started", Map.of());
            cay.node.logs.getLast().logged(new SandboxId(id), line);
            TestServer.await("both lines", () -> said("Process started") && said("Sandbox created"));
            for (String body : bodies) {
                for (JsonNode resource : JsonMapper.shared().readTree(body).get("resourceLogs")) {
                    String attributes = resource.get("resource").toString();
                    assertThat(attributes).contains("cay.team.id", "cay.template.id", id);
                }
            }
        }
    }

    @Test
    void linesOfBuildsNameTeamTemplateAndBuild() throws Exception {
        try (var cay = shipping()) {
            var built =
                    cay.call("POST", "/v3/templates", "{\"name\": \"mine\"}").json();
            String template = built.get("templateID").stringValue();
            String build = built.get("buildID").stringValue();
            var begun = cay.call(
                    "POST", "/v2/templates/%s/builds/%s".formatted(template, build), "{\"fromTemplate\":\"base\"}");
            assertThat(begun.status()).as(begun.text()).isEqualTo(202);
            cay.builds
                    .await(build)
                    .watcher()
                    .said(new BuildLine(cay.clock.instant(), LogLine.Level.WARN, "3", "RUN make"));
            TestServer.await("the line", () -> said("RUN make"));
            String body = bodies.stream()
                    .filter(one -> one.contains("RUN make"))
                    .findFirst()
                    .orElseThrow();
            assertThat(body)
                    .contains("cay.team.id", "cay.template.id", template, "cay.build.id", build, "\"WARN\"")
                    .doesNotContain("cay.sandbox.id");
        }
    }

    private boolean said(String message) {
        return bodies.stream().anyMatch(body -> body.contains(message));
    }
}
