package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// What a sandbox tried to reach is told, also after its end.
interface EgressLogContract extends NetworkCalls {
    private static EgressEntry entry(String name, int began, long attempts) {
        var at = Instant.EPOCH.plusSeconds(began);
        return new EgressEntry(
                at, at.plusSeconds(attempts), "tls", name, "6.6.6.2", 443, true, "domain", attempts, 10, 20);
    }

    private void nodeSaw(String id, EgressEntry... entries) {
        cay().node.egressSeen.put(new SandboxId(id), new EgressSeen(List.of(entries), 0));
    }

    /// As names with the number of attempts.
    private String logOf(String id) {
        var answer = cay().call("GET", "/sandboxes/%s/egress".formatted(id));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("entries").values().stream()
                .map(entry -> entry.get("name").stringValue() + " "
                        + entry.get("attempts").longValue())
                .collect(Collectors.joining(", "));
    }

    @Test
    default void theEgressLogIsThereAfterTheEndAndARestart() throws Exception {
        String id = sandbox("{\"observe\":true}");
        assertThat(logOf(id)).isEmpty();
        nodeSaw(id, entry("a.test", 100, 3));
        assertThat(logOf(id)).isEqualTo("a.test 3");
        assertThat(pause(id, "{}")).isEqualTo(204);
        cay().node.egressSeen.clear();
        restart();
        assertThat(logOf(id)).as("the node has forgotten it").isEqualTo("a.test 3");

        assertThat(connect(id, "{}")).isEqualTo(201);
        nodeSaw(id, entry("b.test", 300, 1), entry("a.test", 200, 2));
        assertThat(logOf(id)).as("both counts").isEqualTo("b.test 1, a.test 5");
        assertThat(cay().call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
        cay().node.egressSeen.clear();
        assertThat(cay().call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(logOf(id)).as("after the end").isEqualTo("b.test 1, a.test 5");
        String theirs = cay().keyOfAnotherTeam();
        assertThat(cay().request("GET", "/sandboxes/%s/egress".formatted(id), Map.of("X-API-Key", theirs))
                        .status())
                .as("for another team")
                .isEqualTo(404);
    }
}
