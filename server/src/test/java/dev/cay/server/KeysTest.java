package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// API keys, teams and the operator's token.
@Fast
final class KeysTest extends ServerTest {
    private JsonNode make(String body) {
        var answer = cay.call("POST", "/api-keys", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private JsonNode named(String name) {
        return cay.call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void canRevokeThemselves() {
        var made = make("{\"name\": \"own\"}");
        String key = made.get("key").stringValue();
        assertThat(status(key, "DELETE", "/api-keys/" + made.get("id").stringValue(), ""))
                .isEqualTo(204);
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(401);
    }

    @Test
    void takeTheTokensOfTheirSandboxesWithThem() throws Exception {
        var created = cay.create("{\"templateID\": \"base\"}");
        var made = make("{\"name\": \"agent\", \"scope\": \"sandbox:%s\"}"
                .formatted(created.get("sandboxID").stringValue()));
        String mine = created.get("sandboxID").stringValue();
        String old = created.get("envdAccessToken").stringValue();
        String other = cay.create();
        String others = info(other).get("envdAccessToken").stringValue();

        var answer = cay.call(
                "DELETE", "/api-keys/%s?sandboxes=true".formatted(made.get("id").stringValue()));
        assertThat(answer.json().get("renewedSandboxes").intValue()).isEqualTo(1);
        String fresh = info(mine).get("envdAccessToken").stringValue();
        assertThat(fresh).isNotEqualTo(old);
        assertThat(cay.node.tokens).hasSize(1);
        assertThat(info(other).get("envdAccessToken").stringValue()).isEqualTo(others);
        assertThat(cay.request("GET", "/files", Map.of("X-Access-Token", old)).status())
                .isEqualTo(502);
        assertThat(cay.request("GET", "/files", Map.of("X-Access-Token", fresh)).status())
                .isEqualTo(200);

        // A crash may come between the record and the node.
        cay.node.tokens.clear();
        restart();
        assertThat(info(mine).get("envdAccessToken").stringValue()).isEqualTo(fresh);
        assertThat(cay.node.tokens.keySet()).extracting(Object::toString).containsExactly(mine);
    }

    /// What a restart of Cay tries again is not the same as what was never written.
    @Test
    void sayWhichTokensCouldNotBeRenewed() throws Exception {
        var made = make("{\"name\": \"agent\"}");
        String secure = "{\"templateID\": \"base\", \"secure\": true}";
        for (int i = 0; i < 3; i++) {
            cay.create(secure);
        }
        var reached = new AtomicInteger();
        cay.node.onRenew = _ -> {
            if (reached.incrementAndGet() == 2) {
                cay.store.away = true;
                throw new IllegalStateException("the node is away");
            }
        };
        String message = cay.call(
                        "DELETE",
                        "/api-keys/%s?sandboxes=true".formatted(made.get("id").stringValue()))
                .message();
        cay.store.away = false;
        assertThat(message)
                .matches("the key is revoked, and the tokens of 1 sandboxes are renewed"
                        + "; those of \\w+ could not be written and stay valid: kill these"
                        + "; those of \\w+ did not reach their machine: kill these, or restart Cay, which tries again");
        cay.node.onRenew = _ -> {};
        cay.node.tokens.clear();
        restart();
        assertThat(cay.node.tokens).as("that of the first one is told again").hasSize(2);
    }

    /// Whoever had the key may have read the tokens of sandboxes that others created.
    @Test
    void takeTheTokensOfAllSandboxesThatTheyCouldOpen() {
        for (String scope : List.of("all", "sandboxes")) {
            var made = make("{\"name\": \"stolen\", \"scope\": \"%s\"}".formatted(scope));
            String theirs = cay.create();
            String old = cay.call(
                            "GET",
                            "/sandboxes/" + theirs,
                            "",
                            "X-API-Key",
                            made.get("key").stringValue())
                    .json()
                    .get("envdAccessToken")
                    .stringValue();
            var answer = cay.call(
                    "DELETE",
                    "/api-keys/%s?sandboxes=true".formatted(made.get("id").stringValue()));
            assertThat(answer.status()).isEqualTo(200);
            assertThat(info(theirs).get("envdAccessToken").stringValue()).isNotEqualTo(old);
            assertThat(cay.request("GET", "/files", Map.of("X-Access-Token", old))
                            .status())
                    .as(scope)
                    .isEqualTo(502);
        }
        var narrow = make("{\"name\": \"builder\", \"scope\": \"templates\"}");
        assertThat(cay.call(
                                "DELETE",
                                "/api-keys/%s?sandboxes=true"
                                        .formatted(narrow.get("id").stringValue()))
                        .json()
                        .get("renewedSandboxes")
                        .intValue())
                .isZero();
    }

    private int status(String key, String method, String path, String body) {
        return cay.call(method, path, body, "X-API-Key", key).status();
    }

    @Test
    void areToldOnceAndShownMasked() {
        var made = make("{\"name\": \"ci\"}");
        String key = made.get("key").stringValue();
        assertThat(key).matches("e2b_[0-9a-f]{40}");
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(200);

        var listed = cay.call("GET", "/api-keys");
        assertThat(listed.text()).doesNotContain(key.substring(4)).doesNotContain(cay.key.substring(4));
        var second = named("ci");
        assertThat(second.propertyNames())
                .contains("id", "name", "mask", "createdAt", "lastUsed")
                .doesNotContain("key");
        assertThat(second.get("mask").toString())
                .isEqualTo(
                        "{\"prefix\":\"e2b_\",\"valueLength\":40,\"maskedValuePrefix\":\"%s\",\"maskedValueSuffix\":\"%s\"}"
                                .formatted(key.substring(4, 6), key.substring(40)));
        assertThat(second.get("lastUsed").stringValue()).startsWith("2026-09-21T10:00");

        String path = "/api-keys/" + made.get("id").stringValue();
        assertThat(cay.call("PATCH", path, "{\"name\": \"deploy\"}")
                        .json()
                        .get("name")
                        .stringValue())
                .isEqualTo("deploy");
        assertThat(cay.call("PATCH", path, "{\"name\": \" \"}").status()).isEqualTo(400);
        assertThat(cay.call("POST", "/api-keys", "{}").message()).contains("'name' is required");
    }

    @Test
    void surviveARestart() throws Exception {
        var made = make("{\"name\": \"ci\", \"scope\": \"read\", \"expiresAt\": \"2026-09-22T10:00:00+01:00\"}");
        String key = made.get("key").stringValue();
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(200);
        restart();
        var kept = named("ci");
        assertThat(kept.get("scope").stringValue()).isEqualTo("read");
        assertThat(kept.get("expiresAt").stringValue()).isEqualTo("2026-09-22T09:00:00Z");
        assertThat(kept.get("lastUsed").isNull()).isFalse();
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(200);
        assertThat(status(key, "POST", "/sandboxes", "{}")).isEqualTo(403);
    }

    @Test
    void endWhenTheirTimeIsOver() {
        String key = make("{\"name\": \"short\", \"expiresAt\": \"2026-09-21T11:00:00Z\"}")
                .get("key")
                .stringValue();
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(200);
        cay.clock.pass(Duration.ofHours(1));
        var refused = cay.call("GET", "/teams", "", "X-API-Key", key);
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.message()).contains("'short' expired at 2026-09-21T11:00:00Z");
        assertThat(cay.call("POST", "/api-keys", "{\"name\": \"late\", \"expiresAt\": \"2026-09-21T10:00:00Z\"}")
                        .message())
                .contains("'expiresAt' must be in the future");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tomorrow", "2026-13-01T00:00:00Z", "2027-01-01", "+999999999-12-31T23:59:59Z"})
    void anEndThatIsNoTimeIsNamed(String end) {
        var refused = cay.call("POST", "/api-keys", "{\"name\": \"k\", \"expiresAt\": \"%s\"}".formatted(end));
        assertThat(refused.status()).as(refused.text()).isEqualTo(400);
        assertThat(refused.message()).contains("'expiresAt' must be a time like");
        assertThat(cay.call("GET", "/api-keys").json()).hasSize(1);
    }

    @Test
    void makeNothingThatOutlivesThem() {
        String key = make("{\"name\": \"short\", \"expiresAt\": \"2026-09-21T11:00:00Z\"}")
                .get("key")
                .stringValue();
        String first = named("first key").get("id").stringValue();
        for (String path : new String[] {"/api-keys", "/api-keys/%s/rotate".formatted(first)}) {
            var made = cay.call("POST", path, "{\"name\": \"x\", \"overlapSeconds\": 60}", "X-API-Key", key);
            assertThat(made.status()).as(made.text()).isEqualTo(201);
            assertThat(made.json().get("expiresAt").stringValue()).isEqualTo("2026-09-21T11:00:00Z");
        }
    }

    @Test
    void areRotatedWithAnOverlap() {
        var old = make("{\"name\": \"ci\", \"scope\": \"sandboxes\"}");
        String path = "/api-keys/%s/rotate".formatted(old.get("id").stringValue());
        var fresh = cay.call("POST", path, "{\"overlapSeconds\": 60}").json();
        assertThat(fresh.get("scope").stringValue()).isEqualTo("sandboxes");
        String before = old.get("key").stringValue();
        assertThat(status(before, "GET", "/sandboxes", "")).isEqualTo(200);
        cay.clock.pass(Duration.ofSeconds(60));
        assertThat(status(before, "GET", "/sandboxes", "")).isEqualTo(401);
        assertThat(status(fresh.get("key").stringValue(), "GET", "/sandboxes", ""))
                .isEqualTo(200);
        assertThat(cay.call("POST", path, "{\"overlapSeconds\": -1}").status()).isEqualTo(400);
    }

    /// The new key would end with the old one, so it would be refused from its first use on.
    @Test
    void thatHaveExpiredAreNotRotated() {
        var old = make("{\"name\": \"ci\", \"expiresAt\": \"2026-09-21T11:00:00Z\"}");
        cay.clock.pass(Duration.ofHours(1));
        String path = "/api-keys/%s/rotate".formatted(old.get("id").stringValue());
        var refused = cay.call("POST", path, "{}");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.message()).contains("'ci' expired at 2026-09-21T11:00:00Z", "make another");
        assertThat(named("ci").get("id")).isEqualTo(old.get("id"));
    }

    /// Each rotation with an overlap leaves one key more.
    @Test
    void areNotRotatedBeyondWhatATeamMayHave() {
        var made = make("{\"name\": \"ci\"}");
        String path = "/api-keys/%s/rotate".formatted(made.get("id").stringValue());
        TestServer.Answer last = null;
        for (int i = 0; i < 1100 && (last == null || last.status() == 201); i++) {
            last = cay.call("POST", path, "{\"overlapSeconds\": 86400}");
        }
        assertThat(last.status()).isEqualTo(429);
        assertThat(last.message()).contains("1000 API keys");
        assertThat(cay.call("POST", path, "{}").status())
                .as("one that takes its place at once")
                .isEqualTo(201);
    }

    /// A request of the key may have been under way.
    @Test
    void ofADeletedTeamOpenNothing() throws Exception {
        String team = cay.admin("POST", "/admin/teams", "{\"name\": \"brief\"}")
                .json()
                .get("teamID")
                .stringValue();
        String key = cay.admin("POST", "/admin/teams/%s/api-keys".formatted(team), "{\"name\": \"k\"}")
                .json()
                .get("key")
                .stringValue();
        cay.store.write(handle -> handle.execute("UPDATE team SET deleted_at = 1 WHERE id = ?", team));
        var late = cay.call("POST", "/api-keys", "{\"name\": \"late\"}", "X-API-Key", key);
        assertThat(late.status()).isEqualTo(404);
        assertThat(late.message()).contains("the team was deleted");
        restart();
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(401);
    }

    /// Clients delete a snapshot as they delete a template.
    @Test
    void forSandboxesDeleteSnapshotsAndNoTemplates() {
        String sandboxes =
                make("{\"name\": \"s\", \"scope\": \"sandboxes\"}").get("key").stringValue();
        String templates =
                make("{\"name\": \"t\", \"scope\": \"templates\"}").get("key").stringValue();
        String snapshot = cay.call("POST", "/sandboxes/%s/snapshots".formatted(cay.create()), "{}")
                .json()
                .get("snapshotID")
                .stringValue();
        String path = "/templates/" + snapshot.replace(":default", "");
        cay.call("POST", "/v3/templates", "{\"name\": \"built\"}");
        assertThat(status(templates, "DELETE", path, "")).isEqualTo(403);
        assertThat(status(sandboxes, "DELETE", "/templates/built", "")).isEqualTo(403);
        assertThat(status(sandboxes, "DELETE", path, "")).isEqualTo(204);
        assertThat(status(templates, "DELETE", "/templates/built", "")).isEqualTo(204);
    }

    @Test
    void areRefusedOnceRevokedAndWhatIsUnderWayIsCut() throws Exception {
        var made = make("{\"name\": \"gone\"}");
        String key = made.get("key").stringValue();
        String id = cay.create();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onKill = _ -> hold(reached, go);
        var killing = CompletableFuture.supplyAsync(() -> {
            try {
                return status(key, "DELETE", "/sandboxes/" + id, "");
            } catch (AssertionError cut) {
                return 0;
            }
        });
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(cay.call("DELETE", "/api-keys/" + made.get("id").stringValue())
                        .status())
                .isEqualTo(204);
        assertThat(killing.get(1, TimeUnit.MINUTES)).isZero();
        go.countDown();
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(401);
    }

    @Test
    void thatExpireCutWhatIsUnderWayAlsoAfterARotation() throws Exception {
        for (boolean rotated : List.of(true, false)) {
            var made = make(
                    rotated
                            ? "{\"name\": \"long\"}"
                            : "{\"name\": \"short\", \"expiresAt\": \"%s\"}"
                                    .formatted(cay.clock.instant().plusSeconds(60)));
            String id = cay.create();
            var reached = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            cay.node.onKill = _ -> hold(reached, go);
            var killing = CompletableFuture.supplyAsync(() -> {
                try {
                    return status(made.get("key").stringValue(), "DELETE", "/sandboxes/" + id, "");
                } catch (AssertionError cut) {
                    return 0;
                }
            });
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            if (rotated) {
                cay.call(
                        "POST",
                        "/api-keys/%s/rotate".formatted(made.get("id").stringValue()),
                        "{\"overlapSeconds\": 60}");
            }
            cay.clock.pass(Duration.ofSeconds(61));
            assertThat(killing.get(1, TimeUnit.MINUTES))
                    .as("rotated: %s", rotated)
                    .isZero();
            go.countDown();
            cay.node.onKill = _ -> {};
        }
    }

    @ParameterizedTest
    @CsvSource({
        "read, GET, /sandboxes, 200",
        "read, POST, /sandboxes, 403",
        "read, GET, /templates, 200",
        "read, GET, /templates/base/files/0000000000000000000000000000000000000000000000000000000000000000, 403",
        "read, GET, /templates/base/%66iles/0000000000000000000000000000000000000000000000000000000000000000, 403",
        "read, DELETE, /sandboxes/ID, 403",
        "read, POST, /sandboxes/ID/connect, 403",
        "read, GET, /metrics, 403",
        "read, POST, /api-keys, 403",
        "sandboxes, GET, /templates, 403",
        "sandboxes, POST, /v3/templates, 403",
        "sandboxes, POST, /api-keys, 403",
        "sandboxes, GET, /api-keys, 403",
        "sandboxes, GET, /sandboxes/ID, 200",
        "templates, GET, /templates, 200",
        "templates, GET, /sandboxes, 403",
        "templates, DELETE, /sandboxes/ID, 403",
        "sandbox:ID, GET, /sandboxes/ID, 200",
        "sandbox:ID, GET, /events/sandboxes/ID, 200",
        "sandbox:ID, GET, /sandboxes, 403",
        "sandbox:ID, POST, /sandboxes, 403",
        "sandbox:ID, GET, /sandboxes/OTHER, 403",
        "sandbox:ID, DELETE, /sandboxes/OTHER, 403",
        "sandbox:ID, POST, /sandboxes/ID/fork, 403",
        "sandbox:ID, POST, /sandboxes/ID/snapshots, 403",
        "sandbox:ID, DELETE, /sandboxes/ID, 204"
    })
    void doNoMoreThanTheirScope(String scope, String method, String path, int expected) {
        String id = cay.create();
        String other = cay.create();
        String key = make("{\"name\": \"narrow\", \"scope\": \"%s\"}".formatted(scope.replace("ID", id)))
                .get("key")
                .stringValue();
        String target = path.replace("ID", id).replace("OTHER", other);
        assertThat(status(key, method, target, method.equals("GET") ? "" : "{}"))
                .isEqualTo(expected);
    }

    @Test
    void forReadingOpenNoSandbox() {
        String id = cay.create("{\"templateID\":\"base\",\"secure\":true}")
                .get("sandboxID")
                .stringValue();
        String key =
                make("{\"name\": \"eyes\", \"scope\": \"read\"}").get("key").stringValue();
        assertThat(info(id).get("envdAccessToken").isString()).isTrue();
        assertThat(cay.call("GET", "/sandboxes/" + id, "", "X-API-Key", key).text())
                .doesNotContain(info(id).get("envdAccessToken").stringValue());
    }

    @Test
    void aWrongScopeIsNamed() {
        assertThat(cay.call("POST", "/api-keys", "{\"name\": \"x\", \"scope\": \"sandbox\"}")
                        .message())
                .contains("'scope' must be all, read, sandboxes, templates, or sandbox:ID, not 'sandbox'");
        assertThat(cay.call("POST", "/api-keys", "{\"name\": \"x\", \"scope\": \"sandbox:My_Box\"}")
                        .message())
                .contains("'scope' must be all, read, sandboxes, templates, or sandbox:ID, not 'sandbox:My_Box'");
    }

    /// Nobody finds out by such a request which sandboxes other teams have.
    @Test
    void forASandboxAreMadeByItsTeamAlone() {
        String mine = cay.create();
        String team = cay.admin("POST", "/admin/teams", "{\"name\": \"others\"}")
                .json()
                .get("teamID")
                .stringValue();
        String keys = "/admin/teams/%s/api-keys".formatted(team);
        String key =
                cay.admin("POST", keys, "{\"name\": \"k\"}").json().get("key").stringValue();
        String members = "/admin/teams/%s/members/ann@example.org".formatted(team);
        String gone = mine.substring(0, mine.length() - 1) + (mine.endsWith("a") ? "b" : "a");
        var refusals = new HashSet<String>();
        for (String id : List.of(mine, gone)) {
            String body = "{\"name\": \"x\", \"scope\": \"sandbox:%s\"}".formatted(id);
            for (var answer : List.of(
                    cay.call("POST", "/api-keys", body, "X-API-Key", key),
                    cay.admin("POST", keys, body),
                    cay.admin("PUT", members, body))) {
                assertThat(answer.status()).isEqualTo(400);
                refusals.add(answer.message().replace(id, "ID"));
            }
        }
        assertThat(refusals)
                .containsExactly(
                        "'scope' is for the sandbox 'ID', which the team does not have; `GET /v2/sandboxes` lists those it has");
        assertThat(cay.admin("GET", keys, "").json().size()).isEqualTo(1);
        assertThat(cay.admin("GET", "/admin/teams/%s/members".formatted(team), "")
                        .json()
                        .size())
                .isZero();
    }

    @Test
    void theOperatorMakesTeamsThatSeeNothingOfEachOther() {
        var team = cay.admin("POST", "/admin/teams", "{\"name\": \"Research & Co\"}")
                .json();
        assertThat(team.get("slug").stringValue()).isEqualTo("research-co");
        String id = team.get("teamID").stringValue();
        assertThat(cay.admin("POST", "/admin/teams", "{\"name\": \"research co\"}")
                        .status())
                .isEqualTo(409);
        var nameless = cay.admin("POST", "/admin/teams", "{\"name\": \"\u7814\u7a76\"}");
        assertThat(nameless.status()).isEqualTo(400);
        assertThat(nameless.message()).contains("'slug' is required");
        String key = cay.admin("POST", "/admin/teams/%s/api-keys".formatted(id), "{\"name\": \"first\"}")
                .json()
                .get("key")
                .stringValue();
        String own = cay.create();
        assertThat(status(key, "GET", "/sandboxes/" + own, "")).isEqualTo(404);
        assertThat(cay.call("GET", "/teams", "", "X-API-Key", key)
                        .json()
                        .get(0)
                        .get("teamID")
                        .stringValue())
                .isEqualTo(id);
        assertThat(cay.call("GET", "/metrics", "", "X-API-Key", key).status()).isEqualTo(403);
        String theirs = cay.call("POST", "/sandboxes", "{\"templateID\":\"base\"}", "X-API-Key", key)
                .json()
                .get("sandboxID")
                .stringValue();
        assertThat(cay.admin("GET", "/admin/sandboxes/running-counts", "")
                        .json()
                        .get(id)
                        .intValue())
                .isEqualTo(1);
        assertThat(cay.admin("DELETE", "/admin/teams/" + id, "").message()).contains("has 1 sandboxes");
        assertThat(cay.admin("POST", "/admin/teams/%s/sandboxes/kill".formatted(id), "{}")
                        .text())
                .isIn("{\"killedCount\":1,\"failedCount\":0}", "{\"failedCount\":0,\"killedCount\":1}");
        assertThat(cay.request("GET", "/events/sandboxes/" + theirs, Map.of("X-API-Key", key))
                        .text())
                .contains("\"kill_reason\":\"admin\"");
        assertThat(info(own).get("state").stringValue()).isEqualTo("running");
        assertThat(cay.admin("DELETE", "/admin/teams/" + id, "").status()).isEqualTo(204);
        assertThat(status(key, "GET", "/teams", "")).isEqualTo(401);
        String first =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        assertThat(cay.admin("DELETE", "/admin/teams/" + first, "").status()).isEqualTo(409);
    }

    @Test
    void theOperatorsTokenIsRootsAloneAndCanBeRenewed() throws Exception {
        var file = directory.resolve("admin.token");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(cay.admin("GET", "/admin/teams", "").status()).isEqualTo(200);
        assertThat(cay.call("GET", "/admin/teams").status()).as("with a key").isEqualTo(401);
        assertThat(cay.request("GET", "/admin/teams", Map.of("X-Admin-Token", ""))
                        .status())
                .isEqualTo(401);
        Files.writeString(file, "cay_admin_other\n");
        assertThat(cay.admin("GET", "/admin/teams", "").status()).isEqualTo(401);
        Files.writeString(file, "");
        assertThat(cay.request("GET", "/admin/teams", Map.of("X-Admin-Token", ""))
                        .status())
                .as("an empty file lets nobody in")
                .isEqualTo(401);
    }

    /// What is under way with a token that was stolen, such as a backup, must not go on for hours.
    @Test
    void whatIsUnderWayWithARenewedOperatorsTokenIsCut() throws Exception {
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        var reached = new CountDownLatch(2);
        var go = new CountDownLatch(1);
        cay.node.onKill = _ -> hold(reached, go);
        String id = cay.create();
        String other = cay.create();
        var killing = CompletableFuture.supplyAsync(() -> statusOrCut(() ->
                cay.request("DELETE", "/sandboxes/" + id, Map.of("X-Admin-Token", cay.adminToken, "X-Team-ID", team))));
        var ending = CompletableFuture.supplyAsync(() -> statusOrCut(() -> {
            TestServer.await("the first", () -> reached.getCount() == 1);
            return cay.admin("POST", "/admin/teams/%s/sandboxes/kill".formatted(team), "");
        }));
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(other).isNotEqualTo(id);
        Files.writeString(directory.resolve("admin.token"), "cay_admin_other\n");
        assertThat(killing.get(1, TimeUnit.MINUTES)).isZero();
        assertThat(ending.get(1, TimeUnit.MINUTES)).isZero();
        go.countDown();
    }

    private static int statusOrCut(Supplier<TestServer.Answer> call) {
        try {
            return call.get().status();
        } catch (AssertionError cut) {
            return 0;
        }
    }

    /// A change that was read before another one must not undo it.
    @Test
    void thatAreRenamedMeanwhileEndAllTheSame() throws Exception {
        var made = make("{\"name\": \"stolen\"}");
        String path = "/api-keys/" + made.get("id").stringValue();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var end = new AtomicBoolean();
            for (int i = 0; i < 8; i++) {
                Future<?> _ = threads.submit(() -> {
                    while (!end.get()) {
                        cay.call("PATCH", path, "{\"name\": \"renamed\"}");
                    }
                });
            }
            cay.call("POST", path + "/rotate", "{\"overlapSeconds\": 60}");
            end.set(true);
        }
        cay.clock.pass(Duration.ofSeconds(61));
        assertThat(status(made.get("key").stringValue(), "GET", "/teams", "")).isEqualTo(401);
    }

    @Test
    void theOperatorActsForATeam() {
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        var headers = Map.of("X-Admin-Token", cay.adminToken, "X-Team-ID", team);
        assertThat(cay.request("GET", "/api-keys", headers).json()).hasSize(1);
        var teams = new HashMap<>(headers);
        teams.put("X-API-Key", cay.key);
        for (var sent : List.of(headers, teams)) {
            var answer = cay.request("GET", "/teams", sent);
            assertThat(answer.status())
                    .as("an operator has no key to give back")
                    .isEqualTo(403);
            assertThat(answer.message()).contains("/admin/teams");
        }
        assertThat(cay.request("GET", "/api-keys", Map.of("X-Admin-Token", cay.adminToken))
                        .message())
                .contains("X-Team-ID");
    }
}
