package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.node.mcp.GatewayControl;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Keep;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// A client's session with a gateway, and what servers remember of it, while the sandbox is paused and after.
@NeedsRoot
class PausedGatewayTest extends ServerHomeTest {
    private static final SandboxId ID = new SandboxId("gated");
    private static final String TOKEN = "token-of-the-gateway";

    /// An MCP server with one tool, which counts how often it was called.
    private static final String SERVER = """
            let calls = 0;
            const results = {
              initialize: () => ({protocolVersion: '2025-11-25', capabilities: {tools: {}},
                                  serverInfo: {name: 'counter', version: '1'}}),
              'tools/list': () => ({tools: [{name: 'count', inputSchema: {type: 'object'}}]}),
              'tools/call': () => ({content: [{type: 'text', text: String(++calls)}]}),
            };
            require('readline').createInterface({input: process.stdin}).on('line', line => {
              const {id, method} = JSON.parse(line);
              if (id !== undefined) console.log(JSON.stringify({jsonrpc: '2.0', id, result: results[method]()}));
            });
            """;

    private int ids;
    private String session = "";

    /// The gateway is there before its sandbox, which finds it when it is opened.
    @BeforeEach
    void begin() throws Exception {
        node.serverHomes = (owner, _) -> homes.open(owner, script(SERVER, Map.of()));
        var folder =
                Files.createDirectories(SandboxNotes.folder(place.records(), ID).resolve("processes"));
        byte[] config = "{\"github/us/counter\": {\"runCmd\": \"counter\"}}".getBytes(UTF_8);
        node.traffic.gateways().start(ID, folder, new GatewayControl.Wanted(config, TOKEN, null, TOKEN));
        node.keepers.create(TestNode.spec(ID.value()));
        var answer = post("""
                {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
                 "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}""");
        session = answer.headers().firstValue("Mcp-Session-Id").orElseThrow();
        post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    }

    private HttpResponse<String> post(String message) throws IOException, InterruptedException {
        var request = node.request(ID.value(), SystemPorts.MCP, "/mcp")
                .header("Authorization", "Bearer " + TOKEN)
                .header("Accept", "application/json, text/event-stream")
                .header("Content-Type", "application/json");
        if (!session.isEmpty()) {
            request.header("Mcp-Session-Id", session).header("MCP-Protocol-Version", "2025-11-25");
        }
        return node.http.send(
                request.POST(HttpRequest.BodyPublishers.ofString(message)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private JsonNode ask(String method, String params) throws Exception {
        var answer = post(
                "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}".formatted(++ids, method, params));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        String text = answer.body()
                .lines()
                .filter(line -> line.startsWith("data: {"))
                .map(line -> line.substring(6))
                .reduce((_, last) -> last)
                .orElse(answer.body());
        return Json.mapper().readTree(text);
    }

    /// What the tool of the name that the list gives it says.
    private int count() throws Exception {
        String name = ask("tools/list", "{}")
                .path("result")
                .path("tools")
                .path(0)
                .path("name")
                .asString("");
        var answer = ask("tools/call", "{\"name\":\"%s\",\"arguments\":{}}".formatted(name));
        String text = answer.path("result").path("content").path(0).path("text").asString("");
        assertThat(text).as(answer.toString()).matches("\\d+");
        return Integer.parseInt(text);
    }

    private long sealed() throws IOException {
        try (var files = Files.list(place.directory().resolve("state/pool/sealed"))) {
            return files.count();
        }
    }

    private void awaitAsleep() throws Exception {
        Await.until(
                "one server is paused with its sandbox",
                () -> sealed() == 1 && sides().stream().allMatch(ID::equals));
    }

    @Test
    void goesOnWithItsSessionsAndWhatServersRemember() throws Exception {
        assertThat(count()).isEqualTo(1);
        assertThat(count()).isEqualTo(2);
        for (int round = 0; round < 2; round++) {
            node.keepers.pause(ID, Keep.MEMORY);
            awaitAsleep();
            node.keepers.resume(ID, true);
            assertThat(count()).isEqualTo(3 + round);
        }
        // The servers may be on their way still when the sandbox comes back.
        node.keepers.pause(ID, Keep.MEMORY);
        node.keepers.resume(ID, true);
        assertThat(count()).isEqualTo(5);
        node.keepers.snapshot(ID, "snap", Keep.MEMORY);
        assertThat(count()).isEqualTo(6);
    }

    @Test
    void nothingIsLeftOfOneThatIsKilledWhilePaused() throws Exception {
        assertThat(count()).isEqualTo(1);
        node.keepers.pause(ID, Keep.MEMORY);
        awaitAsleep();
        node.keepers.kill(ID);
        Await.until(
                "the server and its disk are gone",
                () -> sealed() == 0 && node.host.pool().list().equals(List.of(OWNER)));
    }

    /// The session goes on nevertheless.
    @Test
    void serversStartAfreshWhereMemoryIsNotKept() throws Exception {
        assertThat(count()).isEqualTo(1);
        node.keepers.pause(ID, Keep.FILES);
        node.keepers.resume(ID, true);
        assertThat(count()).isEqualTo(1);

        node.keepers.pause(ID, Keep.MEMORY);
        awaitAsleep();
        node.keepers.resume(ID, false);
        assertThat(count()).isEqualTo(1);

        node.keepers.snapshot(ID, "snap", Keep.MEMORY);
        assertThat(count()).isEqualTo(2);
        node.keepers.rollback(ID, "snap");
        assertThat(count()).isEqualTo(1);
        assertThat(sealed()).isZero();
    }
}
