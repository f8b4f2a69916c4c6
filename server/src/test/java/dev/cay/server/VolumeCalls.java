package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Volumes of a team, their files, and sandboxes that have them.
interface VolumeCalls extends ServerCalls {
    default JsonNode volume(String name) {
        var answer = cay().call("POST", "/volumes", "{\"name\": \"%s\"}".formatted(name));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    default String id(JsonNode volume) {
        return volume.get("volumeID").stringValue();
    }

    default String mounting(String mounts) {
        var answer = cay().call("POST", "/v2/sandboxes", """
                {"templateID": "base", "timeout": 3600, "volumeMounts": %s}""".formatted(mounts));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().get("sandboxID").stringValue();
    }

    default TestServer.Answer content(JsonNode volume, String method, String rest, String body) {
        var headers = Map.of("Authorization", "Bearer " + volume.get("token").stringValue());
        return cay().request(method, "/volumecontent/%s/%s".formatted(id(volume), rest), headers, body);
    }

    default void assertRefused(TestServer.Answer answer, int status, String text) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.message()).contains(text);
    }
}
