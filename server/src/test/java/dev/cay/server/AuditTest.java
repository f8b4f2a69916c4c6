package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.web.TrustedProxies;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// What requests leave in the audit log, and who may read it.
@Fast
final class AuditTest extends ServerTest {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    /// Newest first.
    private List<JsonNode> entries(String query) {
        var answer = cay.admin("GET", "/admin/audit?limit=1000" + query, "");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().values().stream().toList();
    }

    private JsonNode newest(String action) {
        TestServer.await(action, () -> !entries("&action=" + action).isEmpty());
        return entries("&action=" + action).getFirst();
    }

    private static String text(JsonNode entry, String field) {
        return entry.path(field).asString("");
    }

    @Test
    void aChangeIsRecordedWithWhoWhatWhereAndHowItEnded() {
        String sandbox = cay.create();
        var entry = newest("sandbox.create");
        String keyId = cay.call("GET", "/api-keys").json().get(0).get("id").stringValue();
        assertThat(text(entry, "actor")).isEqualTo("key:" + keyId);
        assertThat(text(entry, "credential"))
                .isEqualTo("e2b_%s...%s".formatted(cay.key.substring(4, 6), cay.key.substring(40)));
        assertThat(text(entry, "sandbox")).isEqualTo(sandbox);
        assertThat(text(entry, "address")).isEqualTo("127.0.0.1");
        assertThat(text(entry, "result")).isEqualTo("ok");
        assertThat(text(entry, "status")).isEqualTo("201");
        assertThat(text(entry, "request")).isEqualTo("POST /v2/sandboxes");
        assertThat(text(entry, "team")).isNotEmpty();
        assertThat(text(entry, "hash")).hasSize(64);
        assertThat(cay.call("DELETE", "/sandboxes/" + sandbox).status()).isEqualTo(204);
        assertThat(text(newest("sandbox.kill"), "sandbox")).isEqualTo(sandbox);
        assertThat(cay.call("GET", "/sandboxes/" + cay.create()).status()).isEqualTo(200);
        assertThat(entries("")).noneMatch(one -> text(one, "request").startsWith("GET"));
    }

    @Test
    void refusalsAreRecordedAlsoOfReads() {
        String unknown = "e2b_" + "ab".repeat(20);
        cay.request("GET", "/sandboxes", Map.of("X-API-Key", unknown));
        var refused = newest("sandbox.read");
        assertThat(text(refused, "actor")).isEqualTo("unknown");
        assertThat(text(refused, "credential")).isEqualTo("e2b_ab...abab");
        assertThat(text(refused, "status")).isEqualTo("401");
        assertThat(text(refused, "result")).isEqualTo("refused");
        assertThat(refused.has("team")).isFalse();
        String read = cay.call("POST", "/api-keys", "{\"name\": \"r\", \"scope\": \"read\"}")
                .json()
                .get("key")
                .stringValue();
        cay.request("POST", "/v2/sandboxes", Map.of("X-API-Key", read), "{\"templateID\":\"base\"}");
        assertThat(text(newest("sandbox.create"), "status")).isEqualTo("403");
        cay.call("GET", "/sandboxes/i00000000000000000000");
        TestServer.await("404", () -> text(newest("sandbox.read"), "status").equals("404"));
        cay.request("POST", "/admin/teams", Map.of("X-Admin-Token", "wrong"), "{}");
        assertThat(text(newest("team.create"), "credential")).isEqualTo("wrong admin token");
    }

    /// The header is the client's own word unless a proxy of the operator's sends it.
    @Test
    void theAddressIsTheClientsBehindATrustedProxyAndThePeersElsewhere() {
        cay.call("POST", "/api-keys", "{\"name\": \"a\"}", "X-Forwarded-For", "203.0.113.7");
        assertThat(text(newest("key.create"), "address")).isEqualTo("127.0.0.1");
        cay.proxies = new TrustedProxies(List.of("127.0.0.1", "10.1.0.0/16"))::client;
        cay.call("POST", "/api-keys", "{\"name\": \"b\"}", "X-Forwarded-For", "192.0.2.1, 203.0.113.7, 10.1.2.3");
        TestServer.await("b", () -> text(newest("key.create"), "address").equals("203.0.113.7"));
        cay.proxies = new TrustedProxies(List.of("10.1.0.0/16"))::client;
        cay.call("DELETE", "/api-keys/none", "", "X-Forwarded-For", "203.0.113.7");
        assertThat(text(newest("key.revoke"), "address")).isEqualTo("127.0.0.1");
    }

    @Test
    void aFloodOfRefusalsIsCountedAndNotWritten() {
        for (int i = 0; i < 300; i++) {
            cay.request("GET", "/sandboxes", Map.of("X-API-Key", "e2b_" + "ab".repeat(20)));
        }
        String sandbox = cay.create();
        assertThat(text(newest("sandbox.create"), "sandbox")).isEqualTo(sandbox);
        assertThat(entries("&action=sandbox.read")).hasSize(20);
        cay.close();
        reopen();
        var omitted = newest("audit.omit");
        assertThat(text(omitted, "requests")).isEqualTo("280");
        assertThat(text(omitted, "most")).isEqualTo("127.0.0.1=280");
    }

    private void reopen() {
        try {
            cay = TestServer.again(directory, cay);
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatNobodyAskedForIsTheDaemons() {
        String sandbox = cay.create("{\"templateID\":\"base\",\"timeout\":60}")
                .get("sandboxID")
                .stringValue();
        String paused = cay.create("{\"templateID\":\"base\",\"timeout\":60,\"autoPause\":true}")
                .get("sandboxID")
                .stringValue();
        String asked = cay.create();
        assertThat(pause(asked, "")).isEqualTo(204);
        cay.clock.pass(Duration.ofMinutes(2));
        var ended = newest("sandbox.end");
        assertThat(text(ended, "actor")).isEqualTo("daemon");
        assertThat(text(ended, "reason")).isEqualTo("timeout");
        assertThat(text(ended, "sandbox")).isEqualTo(sandbox);
        TestServer.await("pauses", () -> entries("&action=sandbox.pause").size() >= 2);
        var pauses = entries("&action=sandbox.pause");
        assertThat(pauses).hasSize(2);
        assertThat(text(pauses.get(0), "sandbox") + text(pauses.get(0), "actor"))
                .isEqualTo(paused + "daemon");
        assertThat(text(pauses.get(1), "actor")).startsWith("key:");
        assertThat(text(newest("daemon.start"), "actor")).isEqualTo("daemon");
    }

    /// What teams may not know of each other is in one table.
    @Test
    void aTeamSeesItsOwnEntriesOnly() {
        cay.create();
        newest("sandbox.create");
        String other = cay.admin("POST", "/admin/teams", "{\"name\": \"other\"}")
                .json()
                .get("teamID")
                .stringValue();
        String foreign = cay.admin("POST", "/admin/teams/%s/api-keys".formatted(other), "{\"name\": \"k\"}")
                .json()
                .get("key")
                .stringValue();
        newest("key.create");
        for (String query : List.of("", "?team=" + text(newest("sandbox.create"), "team"), "?action=sandbox")) {
            var own = cay.request("GET", "/audit" + query, Map.of("X-API-Key", foreign))
                    .json();
            assertThat(own.values()).allMatch(entry -> text(entry, "team").equals(other));
        }
        assertThat(cay.request("GET", "/audit", Map.of("X-API-Key", foreign))
                        .json()
                        .values())
                .extracting(entry -> text(entry, "action"))
                .containsExactly("key.create", "team.create");
        assertThat(cay.call("GET", "/audit").text()).contains("sandbox.create").doesNotContain(other);
        for (String scope : List.of("read", "sandboxes", "templates")) {
            String narrow = cay.call("POST", "/api-keys", "{\"name\": \"n\", \"scope\": \"%s\"}".formatted(scope))
                    .json()
                    .get("key")
                    .stringValue();
            assertThat(cay.request("GET", "/audit", Map.of("X-API-Key", narrow)).status())
                    .isEqualTo(403);
        }
        assertThat(cay.call("GET", "/admin/audit").status()).isEqualTo(401);
    }

    @Test
    void entriesAreFoundByWhatTheySayAndComeInPages() {
        String one = cay.create();
        String two = cay.create();
        cay.call("DELETE", "/sandboxes/" + one);
        newest("sandbox.kill");
        assertThat(entries("&sandbox=" + one)).hasSize(2);
        assertThat(entries("&sandbox=" + two)).hasSize(1);
        assertThat(entries("&action=sandbox")).hasSize(3);
        assertThat(entries("&actor=daemon")).hasSize(1);
        assertThat(entries("&until=2026-09-21T10:00:00Z")).isEmpty();
        assertThat(entries("&since=2026-09-21T10:00:00Z")).hasSize(4);
        var page = cay.admin("GET", "/admin/audit?limit=3", "");
        assertThat(page.json()).hasSize(3);
        var rest = cay.admin("GET", "/admin/audit?limit=3&nextToken=" + page.header("X-Next-Token"), "");
        assertThat(rest.json()).hasSize(1);
        assertThat(rest.header("X-Next-Token")).isNull();
        assertThat(cay.admin("GET", "/admin/audit?limit=4", "").header("X-Next-Token"))
                .as("a page that is full and the last one")
                .isNull();
        var forward = cay.admin("GET", "/admin/audit?after=2", "").json();
        assertThat(forward.values())
                .extracting(entry -> entry.get("sequence").longValue())
                .containsExactly(3L, 4L);
        for (String wrong : List.of(
                "since=yesterday",
                "since=%2B999999999-12-31T23:59:59Z",
                "until=-0001-01-01T00:00:00Z",
                "actor=%25",
                "after=-1",
                "limit=0",
                "action=a_b")) {
            assertThat(cay.admin("GET", "/admin/audit?" + wrong, "").status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void theChainIsVerifiedAndItsHeadIsTold() {
        cay.create();
        newest("sandbox.create");
        var found = cay.admin("GET", "/admin/audit/verification", "").json();
        assertThat(found.get("entries").longValue()).isEqualTo(2);
        assertThat(found.has("wrong")).isFalse();
        var head = cay.admin("GET", "/admin/audit/head", "").json();
        assertThat(head.get("hash")).isEqualTo(found.get("headHash"));
        cay.store.write(handle -> handle.execute("UPDATE audit SET actor = 'operator' WHERE sequence = 2"));
        found = cay.admin("GET", "/admin/audit/verification", "").json();
        assertThat(found.get("wrong").longValue()).isEqualTo(2);
    }

    @Test
    void onlyKnownActsOfTheHostAreNoted() {
        assertThat(cay.admin("POST", "/admin/audit", "{\"action\": \"admin-token.renew\"}")
                        .status())
                .isEqualTo(204);
        assertThat(text(newest("admin-token.renew"), "actor")).isEqualTo("operator");
        assertThat(cay.admin("POST", "/admin/audit", "{\"action\": \"made.up\"}")
                        .status())
                .isEqualTo(400);
    }

    /// A secret in every place of every request that changes something.
    @Test
    void noSecretGetsIn() throws Exception {
        var secrets = List.of("hunter2secret", "geheim0body", "geheim1query", "geheim2header", "geheim3path");
        var ids = new HashMap<String, String>();
        ids.put("sandboxID", cay.create());
        var asked = new ArrayList<String>();
        for (var route : cay.server.table()) {
            String path =
                    PARAMETER.matcher(route.path()).replaceAll(name -> ids.getOrDefault(name.group(1), "geheim3path"));
            String body = route.method().matches("GET|HEAD") ? "" : """
                    {"name": "geheim0body", "templateID": "geheim0body", "envVars": {"K": "geheim0body"},
                     "timeout": 60, "tags": ["geheim0body"], "target": "geheim0body", "alias": "geheim0body",
                     "metadata": {"geheim0body": "geheim0body"}, "signatureSecret": "geheim0body",
                     "url": "https://geheim0body.example/", "slug": "geheim0body", "scope": "all",
                     "events": ["sandbox.lifecycle.created"]}""";
            for (var credential : List.of(
                    Map.of("X-API-Key", cay.key),
                    Map.of("X-Admin-Token", cay.adminToken),
                    Map.of("X-API-Key", "hunter2secret"),
                    Map.of("Authorization", "Bearer hunter2secret"))) {
                var headers = new HashMap<>(credential);
                headers.put("User-Agent", "geheim2header");
                headers.put("X-Forwarded-For", "geheim2header");
                headers.put("X-Team-ID", "geheim2header");
                headers.put("Idempotency-Key", "geheim2header");
                if (!route.path().equals("/admin/collections")) {
                    asked.add(route.method()
                            + cay.request(
                                            route.method(),
                                            path + "?apiKey=geheim1query&token=geheim1query&seconds=0",
                                            headers,
                                            body)
                                    .status());
                }
            }
        }
        assertThat(asked).contains("POST201", "POST401", "POST400", "DELETE404");
        cay.close();
        reopen();
        var all = cay.store.read(handle ->
                handle.createQuery("SELECT * FROM audit").mapToMap().list().toString());
        assertThat(all).contains("webhook.create", "team.create", "key.create");
        assertThat(all).doesNotContain(secrets).doesNotContain(cay.key, cay.adminToken);
        assertThat(all).doesNotContain(cay.key.substring(8, 30));
        assertThat(Files.exists(directory.resolve("cay.db"))).isTrue();
    }
}
