package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Routes;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.people.openid.IssuerSettings;
import dev.cay.server.template.TemplateRecord;
import dev.cay.testing.Fast;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.StartCommand;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every route of the API, tried by who may not: a new route without a check fails here.
@Fast
final class ForeignTeamTest extends ServerTest {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    /// Routes that take no key. Each has its own way to know who asks, or tells nothing.
    private static final Set<String> OPEN = Set.of(
            "GET /health",
            "GET /openapi.json",
            "GET /dashboard-api/health",
            "GET /.well-known/openid-configuration",
            "GET /.well-known/jwks.json",
            "PUT /templates/{templateID}/files/{hash}/content",
            "GET /volumecontent/{volumeID}/path",
            "PATCH /volumecontent/{volumeID}/path",
            "DELETE /volumecontent/{volumeID}/path",
            "GET /volumecontent/{volumeID}/dir",
            "POST /volumecontent/{volumeID}/dir",
            "GET /volumecontent/{volumeID}/file",
            "PUT /volumecontent/{volumeID}/file",
            "GET /mcp/oauth/callback",
            "HEAD /mcp/oauth/callback",
            "GET /mcp/oauth/client.json",
            "GET /docs/api/cli",
            "POST /docs/api/cli",
            "GET /sign-in",
            "GET /sign-in/link",
            "POST /sign-in/link",
            "POST /sign-in/out",
            "POST /sign-in/token",
            "POST /oauth/token",
            "POST /oauth/revoke",
            "GET /dashboard/session",
            "POST /dashboard/session",
            "DELETE /dashboard/session");

    /// Bodies that are right, where an empty one would be refused before anybody asks whose sandbox it is.
    private static final Map<String, String> BODIES = Map.of(
            "POST /sandboxes/{sandboxID}/connect", "{\"timeout\": 60}",
            "POST /sandboxes/{sandboxID}/timeout", "{\"timeout\": 60}",
            "POST /sandboxes/{sandboxID}/rollback", "{\"snapshotID\": \"mine\"}",
            "PATCH /api-keys/{apiKeyID}", "{\"name\": \"theirs\"}",
            "POST /secrets/{secretID}", "{\"value\": \"theirs\"}",
            "PATCH /events/webhooks/{webhookID}", "{\"name\": \"theirs\"}",
            "POST /templates/tags", "{\"target\": \"mine\", \"tags\": [\"v1\"]}",
            "DELETE /templates/tags", "{\"name\": \"mine\", \"tags\": [\"v1\"]}",
            "PATCH /templates/{templateID}", "{\"public\": true}",
            "PATCH /v2/templates/{templateID}", "{\"public\": true}");

    /// The same for parameters.
    private static final Map<String, String> QUERIES =
            Map.of("GET /dashboard-api/templates/{templateID}/tags/exists", "?tag=v1");

    /// What others may ask about a template that was published.
    private static final Set<String> OF_PUBLISHED = Set.of(
            "GET /templates/{templateID}",
            "GET /templates/{templateID}/tags",
            "GET /templates/{templateID}/image",
            "GET /dashboard-api/templates/{templateID}",
            "GET /dashboard-api/templates/{templateID}/tags/groups",
            "GET /dashboard-api/templates/{templateID}/tags/count",
            "GET /dashboard-api/templates/{templateID}/tags/exists",
            "GET /dashboard-api/templates/{templateID}/tags/{tag}/assignments");

    /// A team adds anybody by their address, to itself: {@link #whomATeamAddsOrRemovesStaysWhatTheyAreInOthers}.
    private static final String ADDS_TO_ITSELF = "PUT /members/{email}";

    private static final String READABLE =
            "(/v\\d|/dashboard-api)?/(sandboxes|snapshots|events|templates|builds|teams|api-keys|volumes)(/.*|$)";

    private final Map<String, String> ids = new HashMap<>();
    private String foreign = "";
    private String foreignTeam = "";

    @BeforeEach
    void makeBothTeams() {
        String sandbox = cay.create();
        var saved = cay.call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\": \"mine\"}");
        assertThat(saved.status()).as(saved.text()).isEqualTo(201);
        String template = cay.server.templates().all().stream()
                .filter(TemplateRecord::isSnapshot)
                .map(record -> record.id().value())
                .findFirst()
                .orElseThrow();
        ids.put("sandboxID", sandbox);
        ids.put("templateID", template);
        ids.put("alias", "mine");
        ids.put("buildID", "00000000-0000-4000-8000-000000000000");
        ids.put("hash", "0".repeat(64));
        ids.put("server", "notion");
        ids.put("email", "ann@example.org");
        var teams = cay.admin("GET", "/admin/teams", "").json();
        ids.put("teamID", teams.get(0).get("teamID").stringValue());
        String member = "/admin/teams/%s/members/ann@example.org".formatted(ids.get("teamID"));
        assertThat(cay.admin("PUT", member, "{\"scope\": \"read\"}").status()).isEqualTo(200);
        ids.put("apiKeyID", key("first key"));
        var secret = cay.call("POST", "/secrets", "{\"name\": \"mine\", \"value\": \"hidden\"}");
        assertThat(secret.status()).as(secret.text()).isEqualTo(201);
        ids.put("secretID", secret.json().get("secretID").stringValue());
        var webhook = cay.call("POST", "/events/webhooks", """
            {"name": "mine", "url": "https://receiver.example/x", "events": ["sandbox.lifecycle.created"],
             "signatureSecret": "secret"}
            """);
        assertThat(webhook.status()).as(webhook.text()).isEqualTo(201);
        ids.put("webhookID", webhook.json().get("id").stringValue());
        var volume = cay.call("POST", "/volumes", "{\"name\": \"mine\"}");
        assertThat(volume.status()).as(volume.text()).isEqualTo(201);
        ids.put("volumeID", volume.json().get("volumeID").stringValue());
        String other = cay.admin("POST", "/admin/teams", "{\"name\": \"other\"}")
                .json()
                .get("teamID")
                .stringValue();
        foreignTeam = other;
        foreign = cay.admin("POST", "/admin/teams/%s/api-keys".formatted(other), "{\"name\": \"k\"}")
                .json()
                .get("key")
                .stringValue();
    }

    private String key(String name) {
        return cay.call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals(name))
                .map(key -> key.get("id").stringValue())
                .findFirst()
                .orElseThrow();
    }

    private String path(Routes.Route route) {
        String path = PARAMETER
                .matcher(route.path())
                .replaceAll(name -> ids.getOrDefault(name.group(1), "00000000-0000-4000-8000-000000000001"));
        return path
                + (path.endsWith("/metrics/max") ? "?metric=concurrent_sandboxes" : "")
                + (path.endsWith("/live") ? "?seconds=0" : "");
    }

    private TestServer.Answer call(Routes.Route route, Map<String, String> headers) {
        String body = route.method().matches("GET|HEAD|DELETE") && !BODIES.containsKey(name(route))
                ? ""
                : BODIES.getOrDefault(name(route), "{}");
        return cay.request(route.method(), path(route) + QUERIES.getOrDefault(name(route), ""), headers, body);
    }

    private static String name(Routes.Route route) {
        return route.method() + " " + route.path();
    }

    private List<Routes.Route> guarded() {
        var all = cay.server.table().stream()
                .filter(route -> !OPEN.contains(name(route)))
                .toList();
        assertThat(all).hasSizeGreaterThan(60);
        return all;
    }

    @Test
    void nobodyComesInWithoutAGoodKey() {
        String revoked = make("{\"name\": \"revoked\"}");
        assertThat(cay.call("DELETE", "/api-keys/" + key("revoked")).status()).isEqualTo(204);
        String expired = make("{\"name\": \"expired\", \"expiresAt\": \"2026-09-21T10:01:00Z\"}");
        cay.clock.pass(Duration.ofMinutes(1));
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            for (var headers : List.of(
                    Map.<String, String>of(),
                    Map.of("X-API-Key", revoked),
                    Map.of("X-API-Key", expired),
                    Map.of("X-API-Key", "e2b_" + "0".repeat(40)),
                    Map.of("X-Admin-Token", "cay_admin_" + "0".repeat(64)))) {
                int status = call(route, headers).status();
                if (status != 401) {
                    wrong.add("%s with %s: %d".formatted(name(route), headers.keySet(), status));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    private String make(String body) {
        return cay.call("POST", "/api-keys", body).json().get("key").stringValue();
    }

    /// The token of somebody who may do everything in the other team.
    private Map<String, String> person() {
        String member = "/admin/teams/%s/members/eve@example.org".formatted(foreignTeam);
        assertThat(cay.admin("PUT", member, "{}").status()).isEqualTo(200);
        String url = cay.admin("POST", "/admin/people/eve@example.org/link", "{}")
                .json()
                .get("url")
                .stringValue();
        String origin = "http://cay.test:3000";
        var taken = cay.request(
                "POST",
                "/sign-in/link",
                Map.of("Origin", origin, "Content-Type", "application/x-www-form-urlencoded"),
                url.substring(url.indexOf("token=")));
        assertThat(taken.status()).as(taken.text()).isEqualTo(303);
        String cookie = String.valueOf(taken.header("Set-Cookie")).replaceAll(";.*", "");
        String token = cay.request("POST", "/sign-in/token", Map.of("Origin", origin, "Cookie", cookie))
                .json()
                .get("accessToken")
                .stringValue();
        return Map.of("Authorization", "Bearer " + token, "X-Team-ID", foreignTeam);
    }

    @Test
    void anotherTeamsIdsAreOfNoUse() {
        areOfNoUse(Map.of("X-API-Key", foreign));
    }

    @Test
    void anotherTeamsIdsAreOfNoUseToAPerson() {
        areOfNoUse(person());
    }

    /// A person says with each request for which team it is.
    @Test
    void aPersonDoesNothingInATeamThatTheyAreNoMemberOf() {
        var headers = new HashMap<>(person());
        headers.put("X-Team-ID", String.valueOf(ids.get("teamID")));
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            // This answers with the teams of the person, whatever the header says.
            boolean own = name(route).equals("GET /teams");
            var answer = call(route, headers);
            if (own
                    ? answer.text().contains(String.valueOf(ids.get("teamID")))
                    : !Set.of(401, 403).contains(answer.status())) {
                wrong.add("%s: %d %s".formatted(name(route), answer.status(), answer.text()));
            }
        }
        assertThat(wrong).isEmpty();
    }

    private void areOfNoUse(Map<String, String> headers) {
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            if (name(route).equals(ADDS_TO_ITSELF)) {
                continue;
            }
            var answer = call(route, headers);
            boolean named = PARAMETER.matcher(route.path()).find() || BODIES.containsKey(name(route));
            boolean refused = Set.of(401, 403, 404, 501).contains(answer.status())
                    || answer.text().equals("[]");
            boolean leaks = ids.entrySet().stream()
                    .filter(id -> !Set.of("buildID", "hash", "server", "alias").contains(id.getKey()))
                    .anyMatch(id -> answer.text().contains(id.getValue()) && answer.status() < 300);
            // A team's audit log has the ids that the team itself asked for here.
            leaks &= !name(route).equals("GET /audit");
            if ((named && !refused) || leaks) {
                wrong.add("%s: %d %s".formatted(name(route), answer.status(), answer.text()));
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(state(ids.get("sandboxID"))).isEqualTo("running");
        assertThat(key("first key")).isEqualTo(ids.get("apiKeyID"));
        assertThat(cay.server.templates().all()).anyMatch(TemplateRecord::isSnapshot);
    }

    @Test
    void whomATeamAddsOrRemovesStaysWhatTheyAreInOthers() {
        var foreignKey = Map.of("X-API-Key", foreign);
        for (String email : List.of("ann@example.org", "nobody@example.org")) {
            String path = "/members/" + email;
            assertThat(cay.request("DELETE", path, foreignKey).status()).isEqualTo(404);
            var added = cay.request("PUT", path, foreignKey, "{}");
            assertThat(added.status()).as(added.text()).isEqualTo(200);
            assertThat(added.text()).contains(foreignTeam).doesNotContain(ids.get("teamID"));
            assertThat(cay.request("DELETE", path, foreignKey).status()).isEqualTo(200);
        }
        var mine = cay.call("GET", "/members").json();
        assertThat(mine.findValuesAsString("email")).containsExactly("ann@example.org");
        assertThat(mine.findValuesAsString("scope")).containsExactly("read");
    }

    /// With a narrow key, what is not expressly for it is refused.
    @Test
    void narrowKeysReachNothingElse() {
        String templates = make("{\"name\": \"t\", \"scope\": \"templates\"}");
        String sandboxes = make("{\"name\": \"s\", \"scope\": \"sandboxes\"}");
        String read = make("{\"name\": \"r\", \"scope\": \"read\"}");
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            boolean ofTemplates = route.path().matches("(/v\\d)?/templates.*|/dashboard-api/(templates|builds).*");
            boolean ofSandboxes = route.path().matches("(/v\\d)?/(sandboxes|snapshots).*")
                    || name(route).equals("DELETE /templates/{templateID}");
            boolean common = route.path().matches("(/dashboard-api)?/teams.*|/events/sandboxes.*")
                    && route.method().equals("GET");
            check(route, templates, ofTemplates || common, wrong);
            check(route, sandboxes, ofSandboxes || common, wrong);
            boolean readable =
                    route.method().matches("GET|HEAD") && route.path().matches(READABLE);
            check(route, read, readable && !route.path().endsWith("/files/{hash}"), wrong);
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void aKeyForOneSandboxReachesNoOther() {
        String own = cay.create();
        String narrow = make("{\"name\": \"one\", \"scope\": \"sandbox:%s\"}".formatted(own));
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            check(route, narrow, name(route).equals("GET /teams"), wrong);
        }
        assertThat(wrong).isEmpty();
        assertThat(cay.request("GET", "/sandboxes/" + own, Map.of("X-API-Key", narrow))
                        .status())
                .isEqualTo(200);
    }

    /// Whoever may start sandboxes of a template may not see how it was made, or change it.
    @Test
    void aPublishedTemplateIsThereToBeStartedAndForNothingElse() throws Exception {
        var built = cay.call("POST", "/v3/templates", "{\"name\": \"open\"}").json();
        String build = built.get("buildID").stringValue();
        String template = built.get("templateID").stringValue();
        assertThat(cay.call(
                                "POST",
                                "/v2/templates/%s/builds/%s".formatted(template, build),
                                "{\"fromTemplate\":\"base\"}")
                        .status())
                .isEqualTo(202);
        cay.builds
                .await(build)
                .watcher()
                .ready(new BuildResult(
                        List.of("top", "layer1"),
                        "user",
                        null,
                        null,
                        new StartCommand(null, null, "user", null, Map.of())));
        assertThat(cay.call("PATCH", "/v2/templates/open", "{\"public\": true}").status())
                .isEqualTo(200);
        ids.put("templateID", template);
        ids.put("buildID", build);
        ids.put("alias", "default/open");
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            if (!route.path().contains("{templateID}")) {
                continue;
            }
            int status = call(route, Map.of("X-API-Key", foreign)).status();
            if (OF_PUBLISHED.contains(name(route))
                    ? status != 200
                    : !Set.of(401, 403, 404, 501).contains(status)) {
                wrong.add("%s: %d".formatted(name(route), status));
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(asForeign("POST", "/v2/sandboxes", "{\"templateID\": \"default/open\"}")
                        .status())
                .isEqualTo(201);
    }

    private TestServer.Answer asForeign(String method, String path, String body) {
        return cay.request(method, path, Map.of("X-API-Key", foreign), body);
    }

    @Test
    void anotherTeamsIdsInBodiesAreOfNoUse() throws Exception {
        String template = ids.get("templateID");
        for (String name : List.of(template, "default/mine", "mine", template + ":default")) {
            for (String path : List.of("/sandboxes", "/v2/sandboxes")) {
                assertThat(asForeign("POST", path, "{\"templateID\": \"%s\"}".formatted(name))
                                .status())
                        .as(path + " " + name)
                        .isIn(403, 404);
            }
        }
        for (String volume : List.of("mine", ids.get("volumeID"))) {
            assertThat(asForeign(
                                    "POST",
                                    "/v2/sandboxes",
                                    "{\"templateID\": \"base\", \"volumeMounts\": [{\"name\": \"%s\", \"path\": \"/data\"}]}"
                                            .formatted(volume))
                            .status())
                    .as(volume)
                    .isIn(400, 403, 404);
        }
        var own =
                asForeign("POST", "/v2/sandboxes", "{\"templateID\": \"base\"}").json();
        String rollback =
                "/sandboxes/%s/rollback".formatted(own.get("sandboxID").stringValue());
        for (String snapshot : List.of(template, "mine", "default/mine")) {
            assertThat(asForeign("POST", rollback, "{\"snapshotID\": \"%s\"}".formatted(snapshot))
                            .status())
                    .as(snapshot)
                    .isIn(400, 403, 404);
        }
        assertThat(asForeign("POST", "/v3/templates", "{\"name\": \"default/theirs\"}")
                        .status())
                .isEqualTo(400);
        for (String target : List.of(template + ":default", "default/mine:default")) {
            assertThat(asForeign(
                                    "POST",
                                    "/templates/tags",
                                    "{\"target\": \"%s\", \"tags\": [\"v1\"]}".formatted(target))
                            .status())
                    .as(target)
                    .isIn(403, 404);
        }
        for (String from : List.of(template, "default/mine")) {
            var built =
                    asForeign("POST", "/v3/templates", "{\"name\": \"theirs\"}").json();
            String path = "/templates/%s/builds/%s"
                    .formatted(
                            built.get("templateID").stringValue(),
                            built.get("buildID").stringValue());
            asForeign("POST", "/v2" + path, "{\"fromTemplate\": \"%s\"}".formatted(from));
            TestServer.await(
                    "the build fails",
                    () -> asForeign("GET", path + "/status", "")
                            .json()
                            .get("status")
                            .stringValue()
                            .equals("error"));
        }
    }

    /// Routes that are there only with an issuer.
    @Test
    void anIssuerBringsNoRouteThatNobodyLookedAt(@TempDir Path elsewhere) throws Exception {
        var without = cay.server.table().stream().map(ForeignTeamTest::name).toList();
        var issuer = new IssuerSettings(URI.create("http://127.0.0.1:9"), "cay", null);
        var people = new PersonAccess.Settings(URI.create("http://cay.test:3000"), issuer, List.of());
        try (var other = TestServer.forPeople(elsewhere, people)) {
            assertThat(other.server.table().stream().map(ForeignTeamTest::name).filter(name -> !without.contains(name)))
                    .containsExactlyInAnyOrder("GET /sign-in/start", "GET /sign-in/callback", "HEAD /sign-in/callback");
            for (String path : List.of("/sign-in/callback", "/sign-in/callback?code=x&state=x")) {
                assertThat(other.request("GET", path, Map.of()).status()).isEqualTo(400);
            }
        }
    }

    /// Only those that must be refused are sent: others would do something.
    private void check(Routes.Route route, String key, boolean may, List<String> wrong) {
        if (!may
                && !Set.of(401, 403)
                        .contains(call(route, Map.of("X-API-Key", key)).status())) {
            wrong.add("%s with a key for %s".formatted(name(route), key));
        }
    }
}
