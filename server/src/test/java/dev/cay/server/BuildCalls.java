package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.StartCommand;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Builds as clients ask for them, and as the node ends them.
interface BuildCalls extends ServerCalls {
    String HASH = "0123456789abcdef".repeat(4);

    default JsonNode request(String body) {
        return request(body, 202);
    }

    default JsonNode request(String body, int status) {
        var answer = cay().call("POST", "/v3/templates", body);
        assertThat(answer.status()).isEqualTo(status);
        return answer.json();
    }

    default TestServer.Answer begin(JsonNode requested, String body, int status) {
        String path = "/v2/templates/%s/builds/%s"
                .formatted(requested.get("templateID").stringValue(), build(requested));
        var answer = cay().call("POST", path, body);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
        return answer;
    }

    default void ready(JsonNode requested, String layer) throws InterruptedException {
        ready(requested, layer, null);
    }

    default void ready(JsonNode requested, String layer, @Nullable String snapshot) throws InterruptedException {
        var begun = cay().builds.await(build(requested));
        begun.watcher()
                .ready(new BuildResult(
                        List.of(layer, "layer1", "layer0"),
                        "user",
                        null,
                        snapshot,
                        new StartCommand(null, null, "user", null, Map.of())));
    }

    default List<String> messages(JsonNode requested, String query) {
        return cay().call("GET", path(requested) + "/status?" + query)
                .json()
                .get("logEntries")
                .valueStream()
                .map(line -> line.get("message").stringValue())
                .toList();
    }

    default String path(JsonNode requested) {
        return "/templates/%s/builds/%s".formatted(requested.get("templateID").stringValue(), build(requested));
    }

    default String build(JsonNode requested) {
        return requested.get("buildID").stringValue();
    }

    default TestServer.Answer sandbox(String template) {
        return cay().call("POST", "/v2/sandboxes", "{\"templateID\":\"%s\"}".formatted(template));
    }
}
