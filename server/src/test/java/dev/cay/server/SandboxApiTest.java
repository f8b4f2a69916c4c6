package dev.cay.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

@Fast
final class SandboxApiTest extends ServerTest {
    private static final String MISSING = "i00000000000000000000";

    @Test
    void createsWhatTheNewestClientAsksFor() {
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\",\"metadata\":{\"app\":\"demo\"}}");
        assertThat(answer.status()).isEqualTo(201);
        var sandbox = answer.json();
        assertThat(sandbox.get("sandboxID").stringValue()).matches("i[a-z0-9]{20}");
        assertThat(sandbox.get("templateID").stringValue()).matches("[a-z0-9]{20}");
        assertThat(sandbox.get("clientID").stringValue()).isEqualTo("6532622b");
        assertThat(sandbox.get("envdVersion").stringValue()).isEqualTo("0.6.13");
        assertThat(sandbox.get("alias").stringValue()).isEqualTo("base");
        assertThat(sandbox.get("domain").stringValue()).isEqualTo(TestServer.DOMAIN);
        assertThat(sandbox.get("trafficAccessToken").isNull()).isTrue();
        var spec = requireNonNull(
                cay.node.running.get(new SandboxId(sandbox.get("sandboxID").stringValue())));
        assertThat(requireNonNull(spec.accessToken()).value())
                .isEqualTo(sandbox.get("envdAccessToken").stringValue());
        assertThat(spec.layers()).containsExactly("layer1", "layer0");
        assertThat(spec.egress()).isEqualTo(Egress.open());
        assertThat(cay.server.running()).isEqualTo(1);
    }

    @Test
    void theRoutesDifferInTimeoutAndSecurity() {
        var old = cay.call("POST", "/sandboxes", "{\"templateID\":\"base\",\"autoPause\":false}")
                .json();
        assertThat(old.has("envdAccessToken")).isFalse();
        assertThat(secondsLeft(old.get("sandboxID").stringValue())).isEqualTo(15);
        var secured = cay.call("POST", "/sandboxes", "{\"templateID\":\"base\",\"secure\":true,\"timeout\":60}")
                .json();
        assertThat(secured.get("envdAccessToken").stringValue()).hasSize(64);
        assertThat(secondsLeft(cay.create())).isEqualTo(300);
        var id = old.get("sandboxID").stringValue();
        assertThat(requireNonNull(cay.node.running.get(new SandboxId(id))).accessToken())
                .isNull();
    }

    @Test
    void bothWaysToForbidTheInternetReachTheNode() {
        var one = cay.create("{\"templateID\":\"base\",\"allow_internet_access\":false}");
        var two = cay.create("{\"templateID\":\"base\",\"network\":{\"denyOut\":[\"0.0.0.0/0\"]}}");
        assertThat(cay.node.running.values()).noneMatch(spec -> spec.egress().internet());
        var detail = info(one.get("sandboxID").stringValue());
        assertThat(detail.get("allowInternetAccess").booleanValue()).isFalse();
        assertThat(info(two.get("sandboxID").stringValue())
                        .get("network")
                        .get("denyOut")
                        .get(0)
                        .stringValue())
                .isEqualTo("0.0.0.0/0");
    }

    @Test
    void detailHasWhatOldClientsConnectWith() {
        var created = cay.create("{\"templateID\":\"base\",\"metadata\":{\"a\":\"b\"}}");
        String id = created.get("sandboxID").stringValue();
        var detail = info(id + "-6532622b");
        assertThat(detail.get("envdAccessToken")).isEqualTo(created.get("envdAccessToken"));
        assertThat(detail.get("domain").stringValue()).isEqualTo(TestServer.DOMAIN);
        assertThat(detail.get("startedAt").stringValue()).isEqualTo("2026-09-21T10:00:00Z");
        assertThat(detail.get("endAt").stringValue()).isEqualTo("2026-09-21T10:05:00Z");
        assertThat(detail.get("state").stringValue()).isEqualTo("running");
        assertThat(detail.get("metadata").get("a").stringValue()).isEqualTo("b");
        assertThat(detail.get("lifecycle").get("onTimeout").stringValue()).isEqualTo("kill");
        assertThat(detail.get("cpuCount").intValue()).isEqualTo(2);
        assertThat(detail.get("memoryMB").intValue()).isEqualTo(512);
        assertThat(detail.get("diskSizeMB").intValue()).isEqualTo(10240);
        assertThat(detail.get("allowInternetAccess").isNull()).isTrue();
        assertThat(detail.get("volumeMounts").isEmpty()).isTrue();
    }

    @Test
    void killsOnceThenNotFound() {
        String id = cay.create();
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(cay.node.running).isEmpty();
        assertThat(cay.server.running()).isZero();
    }

    @Test
    void theSandboxReadsAsGoneBeforeTheNodeCutsConnections() {
        String id = cay.create();
        var seen = new ArrayList<Integer>();
        cay.node.onKill = killed ->
                seen.add(cay.request("GET", "/health", Map.of("E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983"))
                        .status());
        cay.call("DELETE", "/sandboxes/" + id);
        assertThat(seen).containsExactly(502);
    }

    @Test
    void aNodeThatCannotKillNowIsAskedAgain() {
        String id = cay.create();
        var tries = new ArrayList<SandboxId>();
        cay.node.onKill = killed -> {
            tries.add(killed);
            if (tries.size() == 1) {
                throw new CayException(ErrorKind.UNAVAILABLE, "busy");
            }
        };
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
        assertThat(cay.node.running).hasSize(1);
        TestServer.await("the node to end it", () -> cay.node.running.isEmpty());
    }

    @Test
    void connectOnlyExtends() {
        String id = cay.create();
        var answer = cay.call("POST", "/v2/sandboxes/" + id + "/connect", "{\"timeout\":10}");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().get("sandboxID").stringValue()).isEqualTo(id);
        assertThat(secondsLeft(id)).isEqualTo(300);
        cay.clock.pass(Duration.ofSeconds(100));
        assertThat(cay.call("POST", "/v2/sandboxes/" + id + "/connect").status())
                .isEqualTo(200);
        assertThat(secondsLeft(id)).isEqualTo(300);
        assertThat(cay.call("POST", "/sandboxes/" + id + "/connect", "{\"timeout\":600}")
                        .status())
                .isEqualTo(200);
        assertThat(secondsLeft(id)).isEqualTo(600);
    }

    @Test
    void setTimeoutMayShortenAndIsBoundedByTheLongestLife() {
        String id = cay.create();
        assertThat(cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":20}")
                        .status())
                .isEqualTo(204);
        assertThat(secondsLeft(id)).isEqualTo(20);
        cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":999999}");
        assertThat(secondsLeft(id)).isEqualTo(24 * 3600);
    }

    @Test
    void networkCanBeSwitchedAndReplacesWhatWas() {
        String id = cay.create();
        String path = "/sandboxes/" + id + "/network";
        assertThat(cay.call("PUT", path, "{\"allow_internet_access\":false}").status())
                .isEqualTo(204);
        assertThat(info(id).get("allowInternetAccess").booleanValue()).isFalse();
        assertThat(cay.call("PUT", path, "{\"denyOut\":[\"example.org\"]}").status())
                .isEqualTo(400);
        assertThat(info(id).get("allowInternetAccess").booleanValue()).isFalse();
        assertThat(cay.call("PUT", path, "{}").status()).isEqualTo(204);
        assertThat(cay.node.calls).contains("egress " + id + " false", "egress " + id + " true");
        assertThat(info(id).get("allowInternetAccess").isNull()).isTrue();
    }

    @Test
    void measuresWhatRuns() {
        String id = cay.create();
        String path = "/sandboxes/" + id + "/metrics";
        TestServer.await("a reading", () -> !cay.call("GET", path).json().isEmpty());
        var metric = cay.call("GET", path + "?start=1790000000&end=1790000000")
                .json()
                .get(0);
        assertThat(metric.get("timestampUnix").longValue()).isEqualTo(1_790_000_000);
        assertThat(metric.get("timestamp").stringValue()).isEqualTo("2026-09-21T14:13:20Z");
        assertThat(metric.get("cpuUsedPct").doubleValue()).isEqualTo(12.5);
        assertThat(metric.get("memCache").longValue()).isEqualTo(50 << 20);
        assertThat(cay.call("GET", path + "?start=1790000001").json().isEmpty()).isTrue();
        assertThat(cay.call("GET", path + "?start=x").status()).isEqualTo(400);
        var newest = cay.call("GET", "/sandboxes/metrics?sandbox_ids=" + id + "," + MISSING)
                .json()
                .get("sandboxes");
        assertThat(newest.has(id)).isTrue();
        assertThat(newest.has(MISSING)).isFalse();
    }

    @Test
    void aFailedCreateLeavesNothing() {
        cay.node.onCreate = spec -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "the pool is nearly full");
        };
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}");
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.message()).isEqualTo("the pool is nearly full");
        assertThat(cay.node.calls).hasSize(2).last().asString().startsWith("kill ");
        assertThat(cay.call("GET", "/v2/sandboxes").json().isEmpty()).isTrue();
        assertThat(cay.call("GET", "/events/sandboxes").json().isEmpty()).isTrue();
    }

    @Test
    void aSandboxThatDiesIsGone() {
        String id = cay.create();
        cay.node.die(new SandboxId(id), "out of memory");
        TestServer.await("the end to be known", () -> cay.server.running() == 0);
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
        var killed = cay.call("GET", "/events/sandboxes/" + id).json().get(0);
        assertThat(killed.get("eventData").get("kill_reason").stringValue()).isEqualTo("unknown");
        assertThat(killed.get("eventData").get("kill_detail").stringValue()).isEqualTo("out of memory");
    }

    @Test
    void aSandboxThatDiesWhileItStartsIsGone() {
        cay.node.onCreate = spec -> cay.node.listeners.forEach(listener -> listener.ended(spec.id(), "crashed"));
        cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}");
        TestServer.await("the end to be known", () -> cay.server.running() == 0);
        assertThat(cay.node.running).isEmpty();
    }

    @Test
    void aHundredCreatesAtOnceAllSucceed() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> ids = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                ids.add(threads.submit(() -> cay.create()));
            }
            for (var id : ids) {
                assertThat(cay.node.running).containsKey(new SandboxId(id.get()));
            }
        }
        assertThat(cay.node.running).hasSize(100);
        assertThat(cay.call("GET", "/sandboxes").json().size()).isEqualTo(100);
        var template = cay.call("GET", "/templates").json().get(0);
        assertThat(template.get("spawnCount").intValue()).isEqualTo(100);
    }

    private long secondsLeft(String id) {
        Instant end = Instant.parse(info(id).get("endAt").stringValue());
        return Duration.between(cay.clock.instant(), end).toSeconds();
    }
}
