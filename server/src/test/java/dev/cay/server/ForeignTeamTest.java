package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Routes;
import dev.cay.server.template.TemplateRecord;
import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every route of the API, tried by who may not: a new route without a check fails here.
@Fast
final class ForeignTeamTest extends ServerTest {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    /// Routes that take no key. Each has its own way to know who asks, or tells nothing.
    private static final Set<String> OPEN = Set.of(
            "GET /health",
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
            "GET /dashboard/inspect/sandbox/{sandboxID}");

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

    private final Map<String, String> ids = new HashMap<>();
    private String foreign = "";

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
        var teams = cay.admin("GET", "/admin/teams", "").json();
        ids.put("teamID", teams.get(0).get("teamID").stringValue());
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
        return path + (path.endsWith("/metrics/max") ? "?metric=concurrent_sandboxes" : "");
    }

    private TestServer.Answer call(Routes.Route route, Map<String, String> headers) {
        String body = route.method().matches("GET|HEAD|DELETE") && !BODIES.containsKey(name(route))
                ? ""
                : BODIES.getOrDefault(name(route), "{}");
        return cay.request(route.method(), path(route), headers, body);
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

    @Test
    void anotherTeamsIdsAreOfNoUse() {
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            var answer = call(route, Map.of("X-API-Key", foreign));
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

    /// With a narrow key, what is not expressly for it is refused.
    @Test
    void narrowKeysReachNothingElse() {
        String templates = make("{\"name\": \"t\", \"scope\": \"templates\"}");
        String sandboxes = make("{\"name\": \"s\", \"scope\": \"sandboxes\"}");
        String read = make("{\"name\": \"r\", \"scope\": \"read\"}");
        var wrong = new ArrayList<String>();
        for (var route : guarded()) {
            boolean ofTemplates = route.path().matches("(/v\\d)?/templates.*");
            boolean ofSandboxes = route.path().matches("(/v\\d)?/(sandboxes|snapshots).*");
            boolean common = route.path().matches("/teams.*|/events/sandboxes.*")
                    && route.method().equals("GET");
            check(route, templates, ofTemplates || common, wrong);
            check(route, sandboxes, ofSandboxes || common, wrong);
            check(route, read, route.method().matches("GET|HEAD"), wrong);
        }
        assertThat(wrong).isEmpty();
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
