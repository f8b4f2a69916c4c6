package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Metrics, logs and events, as clients and operators read them.
@Fast
class ObservationTest extends ServerTest {
    @Test
    void keepsMetricsAndLogsOfASandboxThatIsGoneAlsoAfterARestart() throws Exception {
        String id = cay.create();
        TestServer.await("a reading", () -> !metrics(id).isEmpty());
        cay.clock.pass(Duration.ofSeconds(1));
        say(id, LogLine.Level.INFO, "Process started", Map.of("command", "sleep 1"));
        cay.clock.pass(Duration.ofSeconds(1));
        cay.call("DELETE", "/sandboxes/" + id);
        assertThat(metrics(id).get(0).get("memUsed").longValue()).isEqualTo(100 << 20);

        var before = cay;
        before.close();
        cay = TestServer.again(directory, before);

        assertThat(metrics(id).get(0).get("memTotal").longValue()).isEqualTo(512L << 20);
        assertThat(metrics(id).get(0).get("networkIn").longValue()).isEqualTo(300);
        assertThat(metrics(id).get(0).get("networkOut").longValue()).isEqualTo(40);
        assertThat(messages("/v2/sandboxes/" + id + "/logs?direction=forward"))
                .containsExactly("Sandbox created", "Process started", "Sandbox killed: request");
        assertThat(cay.call("GET", "/sandboxes/" + id + "/metrics?start=5&end=4")
                        .status())
                .isEqualTo(400);
        assertThat(cay.call("GET", "/sandboxes/i00000000000000000000/logs").status())
                .isEqualTo(404);
    }

    @Test
    void showsLogsInBothVersionsOfTheContract() {
        String id = cay.create();
        long from = cay.clock.instant().toEpochMilli() + 1;
        for (int i = 1; i <= 3; i++) {
            cay.clock.pass(Duration.ofSeconds(1));
            say(id, i == 2 ? LogLine.Level.WARN : LogLine.Level.INFO, "line " + i, Map.of("pid", "7" + i));
        }
        var old = cay.call("GET", "/sandboxes/" + id + "/logs?start=" + from).json();
        assertThat(old.get("logEntries").size()).isEqualTo(3);
        var line =
                JsonMapper.shared().readTree(old.get("logs").get(0).get("line").stringValue());
        assertThat(line.get("level").stringValue()).isEqualTo("info");
        assertThat(line.get("logger").stringValue()).isEqualTo("process");
        assertThat(line.get("message").stringValue()).isEqualTo("line 1");
        assertThat(line.get("pid").stringValue()).isEqualTo("71");

        String path = "/v2/sandboxes/" + id + "/logs";
        assertThat(messages(path)).containsExactly("line 3", "line 2", "line 1", "Sandbox created");
        assertThat(messages(path + "?limit=1")).containsExactly("line 3");
        assertThat(messages(path + "?direction=forward&limit=2&cursor=" + from)).containsExactly("line 1", "line 2");
        assertThat(messages(path + "?cursor=" + (from + 2000)))
                .doesNotContain("line 3")
                .contains("line 2");
        assertThat(messages(path + "?level=warn")).containsExactly("line 2");
        assertThat(messages(path + "?search=73")).containsExactly("line 3");
        for (String bad :
                List.of("direction=up", "level=loud", "cursor=x", "limit=1001", "search=" + "x".repeat(257))) {
            assertThat(cay.call("GET", path + "?" + bad).status()).as(bad).isEqualTo(400);
        }
    }

    @Test
    void cutsALineThatIsTooLong() {
        String id = cay.create();
        say(id, LogLine.Level.INFO, "\u0001".repeat(5000), Map.of("command", "ä".repeat(5000)));
        assertThat(messages("/v2/sandboxes/" + id + "/logs?limit=1").getFirst())
                .endsWith("…")
                .hasSizeLessThan(1000);
    }

    @Test
    void knowsHowManySandboxesATeamHad() {
        String team = cay.call("GET", "/teams").json().get(0).get("teamID").stringValue();
        String first = cay.create();
        cay.create();
        TestServer.await("two at once", () -> highest(team, "concurrent_sandboxes") == 2);
        TestServer.await("a rate", () -> highest(team, "sandbox_start_rate") > 0);
        cay.clock.pass(Duration.ofSeconds(5));
        cay.call("DELETE", "/sandboxes/" + first);
        TestServer.await("one is left", () -> {
            var rows = cay.call("GET", "/teams/" + team + "/metrics").json();
            return rows.get(rows.size() - 1).get("concurrentSandboxes").intValue() == 1;
        });
        assertThat(cay.call("GET", "/teams/other/metrics").status()).isEqualTo(403);
        assertThat(cay.call("GET", "/teams/" + team + "/metrics/max?metric=x").status())
                .isEqualTo(400);
    }

    @Test
    void pagesEventsAndFiltersThemByType() {
        String id = cay.create();
        cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":60}");
        cay.call("DELETE", "/sandboxes/" + id);
        String path = "/events/sandboxes/" + id;
        assertThat(types(path)).containsExactly("killed", "updated", "created");
        assertThat(types(path + "?orderAsc=true&limit=1&offset=1")).containsExactly("updated");
        assertThat(types(path + "?types=sandbox.lifecycle.killed&types=sandbox.lifecycle.created"))
                .containsExactly("killed", "created");
        assertThat(types("/events/sandboxes?limit=2")).hasSize(2);
        for (String bad : List.of("limit=0", "limit=101", "offset=-1", "types=sandbox.lifecycle.eaten")) {
            assertThat(cay.call("GET", path + "?" + bad).status()).as(bad).isEqualTo(400);
        }
    }

    /// Only whoever has a key of the operator's team, and never through a sandbox.
    @Test
    void showsPrometheusItsPageToTheOperatorOnly() throws Exception {
        String id = cay.create();
        var page = cay.request("GET", "/metrics", Map.of("Authorization", "Bearer " + cay.key));
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("Content-Type")).startsWith("text/plain");
        assertThat(page.text())
                .contains("cay_sandboxes{state=\"running\"} 1.0")
                .contains("cay_creates_total{result=\"ok\"} 1.0")
                .contains("cay_create_seconds_count{phase=\"total\"} 1")
                .contains("cay_events_total{type=\"created\"} 1.0")
                .contains("cay_api_requests_total{method=\"POST\",route=\"/v2/sandboxes\",status=\"201\"} 1.0")
                .contains("jvm_memory_used_bytes")
                .doesNotContain(id);

        assertThat(cay.request("GET", "/metrics", Map.of()).status()).isEqualTo(401);
        assertThat(cay.requestFromInside(new SandboxId(id), "/metrics", Map.of("X-API-Key", cay.key))
                        .status())
                .isEqualTo(404);
        assertThat(cay.request("GET", "/metrics", Map.of("X-API-Key", cay.key, "Host", "49983-" + id + ".cay.test"))
                        .text())
                .contains("\"port\":49983")
                .doesNotContain("cay_sandboxes");
    }

    private JsonNode metrics(String id) {
        return cay.call("GET", "/sandboxes/" + id + "/metrics").json();
    }

    private void say(String id, LogLine.Level level, String message, Map<String, String> fields) {
        var line = new LogLine(cay.clock.instant(), level, "process", message, fields);
        cay.node.logs.getLast().logged(new SandboxId(id), line);
    }

    private List<String> messages(String path) {
        return all(cay.call("GET", path).json().get("logs"), "message");
    }

    private List<String> types(String path) {
        return all(cay.call("GET", path).json(), "type").stream()
                .map(type -> type.replace("sandbox.lifecycle.", ""))
                .toList();
    }

    private static List<String> all(JsonNode array, String field) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(entry -> entry.get(field).stringValue())
                .toList();
    }

    private double highest(String team, String metric) {
        return cay.call("GET", "/teams/" + team + "/metrics/max?metric=" + metric)
                .json()
                .get("value")
                .doubleValue();
    }
}
