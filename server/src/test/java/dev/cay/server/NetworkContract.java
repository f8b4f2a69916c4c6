package dev.cay.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressProxy;
import dev.cay.wire.node.EgressSeen;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is promised of network rules, whatever engine the store has.
@Timeout(120)
abstract class NetworkContract {
    private static final String FULL = """
            {"allowOut":["1.1.1.1","Example.org","*.deep.test","9.9.9.0/24:443"],"denyOut":["0.0.0.0/0"],
             "rules":{"API.example.org:8443":[{"transform":{"headers":{"X-A":"plain"}}}]},
             "egressProxy":{"address":"8.8.8.8:1080","username":"me","password":"hidden-word-77"}}""";

    @TempDir
    Path directory;

    TestServer cay;
    String team;

    /// The same records each time within one test.
    abstract Store open() throws Exception;

    /// Called before each test.
    void empty() throws Exception {}

    @BeforeEach
    final void start() throws Exception {
        empty();
        cay = TestServer.on(open(), directory, new FakeNode(), new FakeClock(), "");
        team = cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
    }

    @AfterEach
    final void stop() {
        cay.close();
    }

    private String create(String network) {
        return cay.create("{\"templateID\":\"base\",\"allow_internet_access\":true,\"network\":%s}".formatted(network))
                .get("sandboxID")
                .stringValue();
    }

    private Egress egress(String id) {
        return requireNonNull(cay.node.running.get(new SandboxId(id))).egress();
    }

    private JsonNode shown(String id) {
        return cay.call("GET", "/sandboxes/" + id).json();
    }

    private void put(String id, String body, int status) {
        var answer = cay.call("PUT", "/sandboxes/%s/network".formatted(id), body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    }

    private void assertFull(Egress egress) {
        assertThat(egress.internet()).isTrue();
        assertThat(egress.allow()).containsExactly("1.1.1.1", "example.org", "*.deep.test", "9.9.9.0/24:443");
        assertThat(egress.deny()).containsExactly("0.0.0.0/0");
        assertThat(egress.rules())
                .isEqualTo(Map.of("api.example.org", new Egress.Transform(Map.of("X-A", "plain"), null)));
        assertThat(egress.proxy()).isEqualTo(new EgressProxy("8.8.8.8:1080", "me", "hidden-word-77"));
    }

    @Test
    void rulesGoToTheNodeAndAreShownWithoutThePassword() {
        String id = create(FULL);
        assertFull(egress(id));
        var network = shown(id).get("network");
        assertThat(network.get("allowOut").values().stream().map(JsonNode::stringValue))
                .containsExactly("1.1.1.1", "example.org", "*.deep.test", "9.9.9.0/24:443");
        assertThat(network.get("denyOut").get(0).stringValue()).isEqualTo("0.0.0.0/0");
        assertThat(network.at("/rules/api.example.org/0/transform/headers/X-A").stringValue())
                .isEqualTo("plain");
        assertThat(network.at("/egressProxy/address").stringValue()).isEqualTo("8.8.8.8:1080");
        assertThat(network.at("/egressProxy/username").stringValue()).isEqualTo("me");
        assertThat(shown(id).toString()).doesNotContain("hidden-word", "password");
    }

    @Test
    void aTransformMaySayThatTheSandboxIsInspectedAndObserved() {
        String id = create(
                "{\"rules\":{\"a.test\":[{\"transform\":{\"observe\":true}}],\"b.test\":[{\"transform\":{\"inspect\":true,\"headers\":{\"X-A\":\"b\"}}}]}}");
        assertThat(egress(id).observe()).isTrue();
        assertThat(egress(id).inspect()).isTrue();
        assertThat(egress(id).rules()).containsOnlyKeys("b.test");
        assertThat(shown(id).at("/network/inspect").booleanValue()).isTrue();
        assertThat(shown(id).at("/network/observe").booleanValue()).isTrue();

        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{\"observe\":true}}]}}", 204);
        assertThat(egress(id).observe()).isTrue();
        assertThat(egress(id).inspect()).isFalse();
        assertThat(egress(id).tcpOnly()).as("only observed").isFalse();
        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{}}]}}", 204);
        assertThat(egress(id).observe()).isFalse();
        assertThat(egress(id).rules()).as("opens TLS to this host").containsOnlyKeys("a.test");
        put(id, "{\"rules\":{\"a.test\":[{\"transform\":{\"inspect\":\"yes\"}}]}}", 400);
    }

    private static String filling(String fill) {
        return "{\"rules\":{\"api.example.org\":[{\"transform\":{\"fill\":%s}}]}}".formatted(fill);
    }

    @Test
    void aRuleSaysWhichPlaceholdersOfTheSandboxBecomeValues() throws Exception {
        String id = create(filling("{\"secrets\":[\"Key\",\"other\"],\"in\":[\"headers\",\"body\"]}"));
        var fill = requireNonNull(egress(id).rules().get("api.example.org")).fill();
        assertThat(fill)
                .isEqualTo(new Egress.Fill(Set.of("key", "other"), Set.of(Egress.Place.HEADERS, Egress.Place.BODY)));
        var shown = shown(id).get("network").at("/rules/api.example.org/0/transform/fill");
        assertThat(shown.toString()).isEqualTo("{\"secrets\":[\"key\",\"other\"],\"in\":[\"headers\",\"body\"]}");
        String usual = create(filling("{\"secrets\":[\"key\"]}"));
        assertThat(requireNonNull(requireNonNull(egress(usual).rules().get("api.example.org"))
                                .fill())
                        .places())
                .containsExactly(Egress.Place.HEADERS);
        String without = create("{\"rules\":{\"api.example.org\":[{\"transform\":{\"headers\":{\"A\":\"b\"}}}]}}");
        assertThat(requireNonNull(egress(without).rules().get("api.example.org"))
                        .fill())
                .isNull();
    }

    @Test
    void whatIsWrongWithPlaceholdersIsNamed() {
        for (var wrong : Map.of(
                        "{}", "'fill.secrets'",
                        "{\"secrets\":[]}", "'fill.secrets'",
                        "{\"secrets\":[\"a b\"]}", "'a b'",
                        "{\"secrets\":[\"a\"],\"in\":[\"path\"]}", "'path'",
                        "{\"secrets\":\"a\"}", "fill.secrets' must be a list")
                .entrySet()) {
            var answer = cay.call(
                    "POST",
                    "/v2/sandboxes",
                    "{\"templateID\":\"base\",\"network\":%s}".formatted(filling(wrong.getKey())));
            assertThat(answer.status()).as(wrong.getKey()).isEqualTo(400);
            assertThat(answer.message()).contains(wrong.getValue());
        }
    }

    /// Who may make a rule for a host of their own could read any secret there.
    @Test
    void aNarrowKeyFillsOnlySecretsThatAreBoundToHosts() {
        cay.call("POST", "/secrets", "{\"name\":\"key\",\"value\":\"value\"}");
        String narrow = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"sandboxes\"}")
                .json()
                .get("key")
                .stringValue();
        String body = "{\"templateID\":\"base\",\"network\":%s}".formatted(filling("{\"secrets\":[\"KEY\"]}"));
        var refused = cay.request("POST", "/v2/sandboxes", Map.of("X-API-Key", narrow), body);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message()).contains("'key' is not");
        cay.call("POST", "/secrets/key", "{\"value\":\"v\",\"metadata\":{\"cay.hosts\":\"api.example.org\"}}");
        assertThat(cay.request("POST", "/v2/sandboxes", Map.of("X-API-Key", narrow), body)
                        .status())
                .isEqualTo(201);
    }

    @Test
    void theDatabaseDoesNotHoldThePassword() {
        create(FULL);
        String rows = cay.store.read(handle -> handle.createQuery("SELECT network FROM sandbox")
                .map((row, context) -> row.getString("network"))
                .list()
                .toString());
        assertThat(rows).contains("8.8.8.8:1080").doesNotContain("hidden-word");
    }

    @Test
    void aReaderWhoMayNotOpenSandboxesSeesNoHeaders() {
        String id = create(FULL);
        var key = cay.call("POST", "/api-keys", "{\"name\":\"r\",\"scope\":\"read\"}")
                .json();
        var shown = cay.request(
                "GET", "/sandboxes/" + id, Map.of("X-API-Key", key.get("key").stringValue()));
        assertThat(shown.status()).as(shown.text()).isEqualTo(200);
        assertThat(shown.text()).contains("*.deep.test").doesNotContain("plain");
    }

    @Test
    void aChangeReplacesAllEgressAndKeepsIngress() {
        String id = create("""
                {"allowOut":["1.1.1.1"],"denyOut":["0.0.0.0/0"],"maskRequestHost":"me:${PORT}","httpsPorts":[8443],
                 "allowPublicTraffic":false}""");
        put(id, FULL, 204);
        assertFull(egress(id));
        put(id, "{\"denyOut\":[\"8.8.8.8\"],\"maskRequestHost\":\"other\",\"httpsPorts\":[1]}", 204);
        assertThat(egress(id)).isEqualTo(new Egress(true, List.of(), List.of("8.8.8.8"), Map.of(), null, false, false));
        var network = shown(id).get("network");
        assertThat(network.has("rules")).isFalse();
        assertThat(network.has("egressProxy")).isFalse();
        assertThat(network.has("allowOut")).isFalse();
        assertThat(network.get("maskRequestHost").stringValue()).isEqualTo("me:${PORT}");
        assertThat(network.get("httpsPorts").get(0).intValue()).isEqualTo(8443);
        assertThat(network.get("allowPublicTraffic").booleanValue()).isFalse();
        put(id, "{}", 204);
        assertThat(egress(id)).isEqualTo(Egress.open());
        put(id, "{\"allowOut\":[\"1.1.1.1\"],\"allow_internet_access\":false}", 204);
        assertThat(egress(id)).isEqualTo(Egress.closed());
        put(id, "{\"denyOut\":[\"0.0.0.0/0\"]}", 204);
        assertThat(egress(id)).isEqualTo(Egress.closed());
    }

    @Test
    void changesAtOnceLeaveNodeAndRecordTheSame() throws Exception {
        String id = create("{}");
        var first = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        cay.node.onEgress = egress -> {
            if (egress.deny().contains("8.8.8.1")) {
                first.countDown();
                await(goOn);
            }
        };
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var one = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.1\"]}", 204));
            await(first);
            var two = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.2\"]}", 204));
            assertThatThrownBy(() -> two.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            goOn.countDown();
            one.get(20, TimeUnit.SECONDS);
            two.get(20, TimeUnit.SECONDS);
        }
        assertThat(egress(id).deny()).containsExactly("8.8.8.2");
        assertThat(shown(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.2");
    }

    @Test
    void aPauseWaitsForAChangeThatIsUnderWay() throws Exception {
        String id = create("{}");
        var changing = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        cay.node.onEgress = _ -> {
            changing.countDown();
            await(goOn);
        };
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var change = threads.submit(() -> put(id, "{\"denyOut\":[\"8.8.8.1\"]}", 204));
            await(changing);
            var pause = threads.submit(() ->
                    cay.call("POST", "/sandboxes/%s/pause".formatted(id), "{}").status());
            assertThatThrownBy(() -> pause.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            goOn.countDown();
            change.get(20, TimeUnit.SECONDS);
            assertThat(pause.get(20, TimeUnit.SECONDS)).isEqualTo(204);
        }
        assertThat(shown(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.1");
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aChangeThatCannotBeWrittenLeavesTheNodeAsItWas() {
        String id = create("{\"denyOut\":[\"8.8.8.1\"]}");
        cay.node.onEgress = egress -> cay.store.away = egress.deny().contains("8.8.8.2");
        put(id, "{\"denyOut\":[\"8.8.8.2\"]}", 503);
        assertThat(egress(id).deny()).containsExactly("8.8.8.1");
        assertThat(shown(id).at("/network/denyOut/0").stringValue()).isEqualTo("8.8.8.1");
    }

    @Test
    void theEventOfAChangeSaysWhatIsAllowedAndDenied() {
        String id = create("{}");
        put(id, FULL, 204);
        assertThat(lastEgress(id)).isEqualTo(cay.json("""
                {"allowed_cidrs":["1.1.1.1","9.9.9.0/24:443"],"denied_cidrs":["0.0.0.0/0"],
                 "allowed_domains":["example.org","*.deep.test"]}"""));
        put(id, "{\"denyOut\":[\"8.8.8.8\",\"9.9.9.0/24\"]}", 204);
        assertThat(lastEgress(id))
                .isEqualTo(cay.json(
                        "{\"allowed_cidrs\":[],\"denied_cidrs\":[\"8.8.8.8\",\"9.9.9.0/24\"],\"allowed_domains\":[]}"));
        put(id, "{\"allow_internet_access\":false,\"allowOut\":[\"1.1.1.1\"]}", 204);
        assertThat(lastEgress(id))
                .isEqualTo(cay.json("{\"allowed_cidrs\":[],\"denied_cidrs\":[\"0.0.0.0/0\"],\"allowed_domains\":[]}"));
        assertThat(cay.call("GET", "/events/sandboxes/" + id).text()).doesNotContain("hidden-word", "X-A");
    }

    /// Of the newest event, in an order of its own for the fields.
    private JsonNode lastEgress(String id) {
        var event = cay.call("GET", "/events/sandboxes/" + id).json().get(0);
        assertThat(event.get("type").stringValue()).isEqualTo("sandbox.lifecycle.updated");
        return event.at("/eventData/network_egress");
    }

    @Test
    void aWrongChangeChangesNothing() {
        String id = create(FULL);
        put(id, "{\"denyOut\":[\"example.org\"]}", 400);
        assertFull(egress(id));
        put("i00000000000000000000", "{}", 404);
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(id), "{}").status())
                .isEqualTo(204);
        put(id, "{}", 409);
    }

    @Test
    void rulesOutliveARestartAPauseAndAFork() throws Exception {
        String id = create(FULL);
        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        assertThat(shown(id).at("/network/egressProxy/address").stringValue()).isEqualTo("8.8.8.8:1080");
        var fork = cay.call("POST", "/sandboxes/%s/fork".formatted(id), "{}").json();
        String copy = fork.at("/0/sandbox/sandboxID").stringValue();
        assertFull(egress(copy));
        assertThat(shown(copy).at("/network/rules/api.example.org").isArray()).isTrue();
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(id), "{}").status())
                .isEqualTo(204);
        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(id), "{}")
                        .status())
                .isEqualTo(201);
        assertFull(egress(id));
        assertThat(shown(id).at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
    }

    /// As a Cay before egress rules wrote it.
    @Test
    void rowsOfAnOlderCayAreRead() throws Exception {
        String id = create("{}");
        cay.store.write(handle -> handle.execute(
                "UPDATE sandbox SET network = ? WHERE id = ?",
                "{\"allowPublicTraffic\":true,\"maskRequestHost\":null,\"denyAllOut\":true,\"allowInternetAccess\":null}",
                id));
        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        assertThat(shown(id).at("/network/denyOut/0").stringValue()).isEqualTo("0.0.0.0/0");
        String copy = cay.call("POST", "/sandboxes/%s/fork".formatted(id), "{}")
                .json()
                .at("/0/sandbox/sandboxID")
                .stringValue();
        assertThat(egress(copy)).isEqualTo(Egress.closed());
    }

    @Test
    void aTeamsDefaultHoldsForWhoSaysNothing() throws Exception {
        String path = "/admin/teams/%s/network".formatted(team);
        assertThat(cay.admin("GET", path, "").json().get("source").stringValue())
                .isEqualTo("default");
        var set = cay.admin("PUT", path, FULL);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        assertThat(set.json().at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
        assertThat(set.text()).doesNotContain("hidden-word");
        assertThat(cay.call("PUT", path, "{}").status())
                .as("for the operator alone")
                .isIn(401, 403);

        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        assertFull(egress(cay.create()));
        assertFull(egress(create("{\"allowPublicTraffic\":true,\"allowOut\":[],\"rules\":{}}")));
        assertThat(egress(create("{\"denyOut\":[\"8.8.8.8\"]}")).deny()).containsExactly("8.8.8.8");
        assertThat(egress(cay.create("{\"templateID\":\"base\",\"allow_internet_access\":false}")
                        .get("sandboxID")
                        .stringValue()))
                .isEqualTo(Egress.closed());

        assertThat(cay.admin("PUT", path, "{\"denyOut\":[\"x\"]}").status()).isEqualTo(400);
        assertThat(cay.admin("DELETE", path, "").status()).isEqualTo(204);
        assertThat(egress(cay.create())).isEqualTo(Egress.open());
    }

    @Test
    void aTemplatesDefaultHoldsForItsTeamWhereNobodyChooses() throws Exception {
        cay.call("POST", "/secrets", "{\"name\":\"key\",\"value\":\"value\"}");
        String source = create("{}");
        String template = cay.call("POST", "/sandboxes/%s/snapshots".formatted(source), "{\"name\":\"mine\"}")
                .json()
                .get("snapshotID")
                .stringValue();
        String path = "/templates/%s/network".formatted(template.split(":")[0].replace("/", "%2F"));
        assertThat(cay.call("GET", path).json().get("source").stringValue()).isEqualTo("default");
        var set = cay.call("PUT", path, FULL);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        assertThat(set.json().at("/network/allowOut/0").stringValue()).isEqualTo("1.1.1.1");
        assertThat(set.text()).doesNotContain("hidden-word");
        cay.admin("PUT", "/admin/teams/%s/network".formatted(team), "{\"denyOut\":[\"9.9.9.9\"]}");

        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        assertFull(egress(of(template, "")));
        assertFull(egress(of("mine", ",\"network\":{\"allowPublicTraffic\":true}")));
        assertThat(egress(of("mine", ",\"network\":{\"denyOut\":[\"8.8.8.8\"]}"))
                        .deny())
                .as("who says something chooses all of it")
                .containsExactly("8.8.8.8");
        assertThat(egress(cay.create()).deny()).as("another template").containsExactly("9.9.9.9");
        String narrow = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"templates\"}")
                .json()
                .get("key")
                .stringValue();
        var refused = cay.request(
                "PUT",
                path,
                Map.of("X-API-Key", narrow),
                "{\"rules\":{\"a.test\":[{\"transform\":{\"headers\":{\"A\":\"${e2b.secrets.key}\"}}}]}}");
        assertThat(refused.status()).as("a secret that is not bound").isEqualTo(403);
        assertThat(cay.call("PUT", path, "{\"denyOut\":[\"x\"]}").status()).isEqualTo(400);

        assertThat(cay.call("PATCH", path.replace("/network", ""), "{\"public\":true}")
                        .status())
                .isEqualTo(200);
        String theirs = cay.keyOfAnotherTeam();
        var made = cay.request(
                "POST",
                "/v2/sandboxes",
                Map.of("X-API-Key", theirs),
                "{\"templateID\":\"%s\"}".formatted(template.split(":")[0]));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(egress(made.json().get("sandboxID").stringValue()))
                .as("a sandbox of another team")
                .isEqualTo(Egress.open());

        assertThat(cay.call("DELETE", path).status()).isEqualTo(204);
        assertThat(egress(of("mine", "")).deny()).as("the team's again").containsExactly("9.9.9.9");
    }

    private String of(String template, String more) {
        return cay.create("{\"templateID\":\"%s\"%s}".formatted(template, more))
                .get("sandboxID")
                .stringValue();
    }

    private static EgressEntry entry(String name, int began, long attempts) {
        var at = Instant.EPOCH.plusSeconds(began);
        return new EgressEntry(
                at, at.plusSeconds(attempts), "tls", name, "6.6.6.2", 443, true, "domain", attempts, 10, 20);
    }

    private void nodeSaw(String id, EgressEntry... entries) {
        cay.node.egressSeen.put(new SandboxId(id), new EgressSeen(List.of(entries), 0));
    }

    /// As names with the number of attempts.
    private String logOf(String id) {
        var answer = cay.call("GET", "/sandboxes/%s/egress".formatted(id));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("entries").values().stream()
                .map(entry -> entry.get("name").stringValue() + " "
                        + entry.get("attempts").longValue())
                .collect(Collectors.joining(", "));
    }

    @Test
    void theEgressLogIsThereAfterTheEndAndARestart() throws Exception {
        String id = create("{\"observe\":true}");
        assertThat(logOf(id)).isEmpty();
        nodeSaw(id, entry("a.test", 100, 3));
        assertThat(logOf(id)).isEqualTo("a.test 3");
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(id), "{}").status())
                .isEqualTo(204);
        cay.close();
        cay.node.egressSeen.clear();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        assertThat(logOf(id)).as("the node has forgotten it").isEqualTo("a.test 3");

        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(id), "{}")
                        .status())
                .isEqualTo(201);
        nodeSaw(id, entry("b.test", 300, 1), entry("a.test", 200, 2));
        assertThat(logOf(id)).as("both counts").isEqualTo("b.test 1, a.test 5");
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
        cay.node.egressSeen.clear();
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(logOf(id)).as("after the end").isEqualTo("b.test 1, a.test 5");
        String theirs = cay.keyOfAnotherTeam();
        assertThat(cay.request("GET", "/sandboxes/%s/egress".formatted(id), Map.of("X-API-Key", theirs))
                        .status())
                .as("for another team")
                .isEqualTo(404);
    }

    @Test
    void theEdgeSpeaksTlsToHttpsPortsAlone() {
        String id = create("{\"httpsPorts\":[9443,49999]}");
        assertThat(shown(id).at("/network/httpsPorts/1").intValue()).isEqualTo(49999);
        assertThat(usesTls(id, 9443)).isTrue();
        assertThat(usesTls(id, 9444)).isFalse();
        assertThat(usesTls(id, 49983)).isFalse();
        assertThat(usesTls(create("{}"), 9443)).isFalse();
    }

    private boolean usesTls(String id, int port) {
        var answer = cay.request("GET", "/health", Map.of("Host", "%d-%s.cay.test".formatted(port, id)));
        return answer.json().get("tls").booleanValue();
    }

    @Test
    void theSameCreateIsTheSameWithAProxysPassword() {
        String body = "{\"templateID\":\"base\",\"network\":%s}".formatted(FULL);
        var one = cay.call("POST", "/v2/sandboxes", body, "Idempotency-Key", "k1");
        var two = cay.call("POST", "/v2/sandboxes", body, "Idempotency-Key", "k1");
        assertThat(two.status()).as(two.text()).isEqualTo(201);
        assertThat(two.json().get("sandboxID")).isEqualTo(one.json().get("sandboxID"));
        assertThat(cay.call(
                                "POST",
                                "/v2/sandboxes",
                                body.replace("hidden-word-77", "hidden-word-78"),
                                "Idempotency-Key",
                                "k1")
                        .status())
                .isEqualTo(409);
    }
}
