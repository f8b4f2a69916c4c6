package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine.Level;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What a build prints is read by its team alone.
interface BuildLogCases extends BuildCalls {
    @Test
    default void linesOfTheLogKeepTheirNumbers() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        var watcher = cay().builds.await(build(requested)).watcher();
        for (int i = 0; i < 250; i++) {
            var level = i % 2 == 0 ? Level.INFO : Level.ERROR;
            watcher.said(new BuildLine(Instant.ofEpochMilli(1000 + i), level, "1", "line " + i));
        }
        assertThat(messages(requested, "logsOffset=0")).hasSize(100).first().isEqualTo("line 0");
        assertThat(messages(requested, "logsOffset=200")).hasSize(50).last().isEqualTo("line 249");
        assertThat(messages(requested, "logsOffset=250")).isEmpty();
        assertThat(messages(requested, "limit=3&logsOffset=10")).containsExactly("line 10", "line 11", "line 12");
        assertThat(messages(requested, "level=error&limit=2&logsOffset=1")).containsExactly("line 3", "line 5");
        restart();
        assertThat(messages(requested, "logsOffset=249")).containsExactly("line 249");
        var back = cay().call("GET", path(requested) + "/logs?direction=backward&limit=2&cursor=1100")
                .json();
        assertThat(back.findValuesAsString("message")).containsExactly("line 100", "line 99");
        var found = cay().call("GET", path(requested) + "/logs?search=line%2011&level=error&limit=3")
                .json();
        assertThat(found.findValuesAsString("message")).containsExactly("line 11", "line 111", "line 113");
        assertThat(cay().call("GET", path(requested) + "/logs?limit=0").json().get("logs"))
                .isEmpty();
        for (String wrong : List.of(
                "direction=up", "source=none", "limit=101", "cursor=x", "level=loud", "search=" + "a".repeat(257))) {
            assertThat(cay().call("GET", path(requested) + "/logs?" + wrong).status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    /// What a build prints may hold secrets, and publishing a template does not publish that.
    @Test
    default void onlyTheTeamThatBuiltAPublishedTemplateReadsWhatTheBuildSaid() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        cay().builds
                .await(build(requested))
                .watcher()
                .said(new BuildLine(Instant.EPOCH, Level.INFO, "1", "TOKEN=hidden"));
        ready(requested, "top");
        cay().call("PATCH", "/v2/templates/mine", "{\"public\":true}");
        String key = cay().keyOfAnotherTeam();
        var headers = Map.of("X-API-Key", key);
        String template = "/templates/" + requested.get("templateID").stringValue();
        assertThat(cay().request("GET", template, headers).status())
                .as("the template itself")
                .isEqualTo(200);
        for (String route : List.of("/status", "/status?level=info", "/logs")) {
            var answer = cay().request("GET", path(requested) + route, headers);
            assertThat(answer.status()).as(route).isEqualTo(403);
            assertThat(answer.text()).doesNotContain("hidden");
            assertThat(cay().call("GET", path(requested) + route).text()).contains("hidden");
        }
    }
}
