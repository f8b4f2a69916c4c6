package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.server.log.OtlpSettings;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
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

    @Test
    void linesAndEventsNameTeamSandboxAndTemplate() throws Exception {
        var receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1/logs", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort();
        try (var cay = TestServer.shipping(directory, OtlpSettings.of(url, null))) {
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
        } finally {
            receiver.stop(0);
        }
    }

    private boolean said(String message) {
        return bodies.stream().anyMatch(body -> body.contains(message));
    }
}
