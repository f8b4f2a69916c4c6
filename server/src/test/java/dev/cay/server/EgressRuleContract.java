package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.Egress;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Network rules of a sandbox go to the node, are shown without secrets, and outlive what happens to the sandbox.
interface EgressRuleContract extends NetworkCalls {
    @Test
    default void rulesGoToTheNodeAndAreShownWithoutThePassword() {
        String id = sandbox(FULL);
        assertFull(egress(id));
        var network = info(id).get("network");
        assertThat(network.get("allowOut").values().stream().map(JsonNode::stringValue))
                .containsExactly("1.1.1.1", "example.org", "*.deep.test", "9.9.9.0/24:443");
        assertThat(network.get("denyOut").get(0).stringValue()).isEqualTo("0.0.0.0/0");
        assertThat(network.at("/rules/api.example.org/0/transform/headers/X-A").stringValue())
                .isEqualTo("plain");
        assertThat(network.at("/egressProxy/address").stringValue()).isEqualTo("8.8.8.8:1080");
        assertThat(network.at("/egressProxy/username").stringValue()).isEqualTo("me");
        assertThat(info(id).toString()).doesNotContain("hidden-word", "password");
    }

    @Test
    default void aTransformMaySayThatTheSandboxIsInspectedAndObserved() {
        String id = sandbox(
                "{\"rules\":{\"a.test\":[{\"transform\":{\"observe\":true}}],\"b.test\":[{\"transform\":{\"inspect\":true,\"headers\":{\"X-A\":\"b\"}}}]}}");
        assertThat(egress(id).observe()).isTrue();
        assertThat(egress(id).inspect()).isTrue();
        assertThat(egress(id).rules()).containsOnlyKeys("b.test");
        assertThat(info(id).at("/network/inspect").booleanValue()).isTrue();
        assertThat(info(id).at("/network/observe").booleanValue()).isTrue();

        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{\"observe\":true}}]}}", 204);
        assertThat(egress(id).observe()).isTrue();
        assertThat(egress(id).inspect()).isFalse();
        assertThat(egress(id).tcpOnly()).as("only observed").isFalse();
        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{}}]}}", 204);
        assertThat(egress(id).observe()).isFalse();
        assertThat(egress(id).rules()).as("opens TLS to this host").containsOnlyKeys("a.test");
        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{\"inspect\":\"yes\"}}]}}", 400);
    }

    @Test
    default void theDatabaseDoesNotHoldThePassword() {
        sandbox(FULL);
        String rows = cay().store
                .read(handle -> handle.createQuery("SELECT network FROM sandbox")
                        .map((row, context) -> row.getString("network"))
                        .list()
                        .toString());
        assertThat(rows).contains("8.8.8.8:1080").doesNotContain("hidden-word");
    }

    @Test
    default void aReaderWhoMayNotOpenSandboxesSeesNoHeaders() {
        String id = sandbox(FULL);
        var key = cay().call("POST", "/api-keys", "{\"name\":\"r\",\"scope\":\"read\"}")
                .json();
        var shown = cay().request(
                        "GET",
                        "/sandboxes/" + id,
                        Map.of("X-API-Key", key.get("key").stringValue()));
        assertThat(shown.status()).as(shown.text()).isEqualTo(200);
        assertThat(shown.text()).contains("*.deep.test").doesNotContain("plain");
    }

    @Test
    default void rulesOutliveARestartAPauseAndAFork() throws Exception {
        String id = sandbox(FULL);
        restart();
        assertThat(info(id).at("/network/egressProxy/address").stringValue()).isEqualTo("8.8.8.8:1080");
        var fork = cay().call("POST", "/sandboxes/%s/fork".formatted(id), "{}").json();
        String copy = fork.at("/0/sandbox/sandboxID").stringValue();
        assertFull(egress(copy));
        assertThat(info(copy).at("/network/rules/api.example.org").isArray()).isTrue();
        assertThat(pause(id, "{}")).isEqualTo(204);
        assertThat(connect(id, "{}")).isEqualTo(201);
        assertFull(egress(id));
        assertThat(info(id).at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
    }

    /// As a Cay before egress rules wrote it.
    @Test
    default void rowsOfAnOlderCayAreRead() throws Exception {
        String id = sandbox("{}");
        cay().store
                .write(handle -> handle.execute(
                        "UPDATE sandbox SET network = ? WHERE id = ?",
                        "{\"allowPublicTraffic\":true,\"maskRequestHost\":null,\"denyAllOut\":true,\"allowInternetAccess\":null}",
                        id));
        restart();
        assertThat(info(id).at("/network/denyOut/0").stringValue()).isEqualTo("0.0.0.0/0");
        String copy = cay().call("POST", "/sandboxes/%s/fork".formatted(id), "{}")
                .json()
                .at("/0/sandbox/sandboxID")
                .stringValue();
        assertThat(egress(copy)).isEqualTo(Egress.closed());
    }

    @Test
    default void theEdgeSpeaksTlsToHttpsPortsAlone() {
        String id = sandbox("{\"httpsPorts\":[9443,49999]}");
        assertThat(info(id).at("/network/httpsPorts/1").intValue()).isEqualTo(49999);
        assertThat(usesTls(id, 9443)).isTrue();
        assertThat(usesTls(id, 9444)).isFalse();
        assertThat(usesTls(id, 49983)).isFalse();
        assertThat(usesTls(sandbox("{}"), 9443)).isFalse();
    }

    private boolean usesTls(String id, int port) {
        var answer = cay().request("GET", "/health", Map.of("Host", "%d-%s.cay.test".formatted(port, id)));
        return answer.json().get("tls").booleanValue();
    }

    @Test
    default void theSameCreateIsTheSameWithAProxysPassword() {
        String body = "{\"templateID\":\"base\",\"network\":%s}".formatted(FULL);
        var one = cay().call("POST", "/v2/sandboxes", body, "Idempotency-Key", "k1");
        var two = cay().call("POST", "/v2/sandboxes", body, "Idempotency-Key", "k1");
        assertThat(two.status()).as(two.text()).isEqualTo(201);
        assertThat(two.json().get("sandboxID")).isEqualTo(one.json().get("sandboxID"));
        assertThat(cay().call(
                                "POST",
                                "/v2/sandboxes",
                                body.replace("hidden-word-77", "hidden-word-78"),
                                "Idempotency-Key",
                                "k1")
                        .status())
                .isEqualTo(409);
    }
}
