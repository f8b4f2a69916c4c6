package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.people.PersonAccess;
import dev.cay.server.people.openid.IssuerSettings;
import dev.cay.testing.Fast;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// The description of the API has every route, and nothing else.
@Fast
final class ApiDocumentTest extends ServerTest {
    private static final String ID = "iabcdefghijabcdefghij";
    private static final String VOLUME = "00000000-0000-4000-8000-000000000000";

    /// With an issuer, as some routes are there only with one.
    @Override
    TestServer begin() throws Exception {
        var secret = Files.writeString(directory.resolve("client.secret"), "secret");
        return TestServer.forPeople(
                directory,
                new PersonAccess.Settings(
                        URI.create("http://cay.test:3000"),
                        new IssuerSettings(URI.create("http://127.0.0.1:9"), "client", secret),
                        List.of()));
    }

    private JsonNode document() {
        var answer = cay.request("GET", "/openapi.json", Map.of());
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("Content-Type")).isEqualTo("application/json");
        return answer.json();
    }

    @Test
    void describesEachRouteAndNoOther() {
        var described = new ArrayList<String>();
        document()
                .get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .propertyNames()
                        .forEach(method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        var served = cay.server.table().stream()
                .map(route -> route.method() + " " + route.path())
                .toList();
        assertThat(described).hasSizeGreaterThan(100).containsExactlyInAnyOrderElementsOf(served);
    }

    @Test
    void allReferencesLeadSomewhereAndEachTypeIsUsed() {
        var document = document();
        var used = references(document);
        var types = new ArrayList<String>();
        document.at("/components/schemas").propertyNames().forEach(types::add);
        assertThat(used).hasSizeGreaterThan(30).containsExactlyInAnyOrderElementsOf(types);
    }

    private static List<String> references(JsonNode node) {
        return node.findValuesAsString("$ref").stream()
                .map(reference -> reference.replace("#/components/schemas/", ""))
                .distinct()
                .toList();
    }

    /// Keys of each scope may do what the description says, and nothing else.
    @Test
    void eachScopeOpensTheRoutesThatTheDescriptionSays() {
        var keys = new TreeMap<String, String>();
        String sandbox = cay.create();
        for (String scope : List.of("all", "read", "sandboxes", "templates", "sandbox")) {
            keys.put(scope, keyOf(scope.equals("sandbox") ? "sandbox:" + sandbox : scope));
        }
        // No request may change what the next one meets.
        assertThat(cay.call("DELETE", "/sandboxes/" + sandbox).status()).isEqualTo(204);
        var wrong = new ArrayList<String>();
        for (var operation : operations("key")) {
            var named = operation.description().get("x-cay-scopes").values().stream()
                    .map(JsonNode::stringValue)
                    .toList();
            keys.forEach((scope, key) -> {
                var answer = operation.call(cay, sandbox, Map.of("X-API-Key", key));
                boolean refused = answer.status() == 403 && answer.text().contains("its scope is");
                if (refused == named.contains(scope)) {
                    wrong.add("%s with %s: %s".formatted(operation, scope, answer.text()));
                }
            });
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void whoeverHasNothingGetsNoFurtherThanTheDescriptionSays() {
        var keyless = new ArrayList<String>();
        for (String who : List.of("key", "admin", "operator", "volume")) {
            for (var operation : operations(who)) {
                if (operation.call(cay, Map.of()).status() != 401) {
                    keyless.add(operation.toString());
                }
            }
        }
        for (var operation : operations("admin")) {
            if (operation.call(cay, Map.of("X-API-Key", cay.key)).status() != 401) {
                keyless.add(operation + " with a key");
            }
        }
        for (var operation : operations("everyone")) {
            if (operation.call(cay, Map.of()).text().contains("API key is missing")) {
                keyless.add(operation + " is not for everyone");
            }
        }
        assertThat(keyless).isEmpty();
    }

    private String keyOf(String scope) {
        return cay.call("POST", "/api-keys", "{\"name\":\"of a scope\",\"scope\":\"%s\"}".formatted(scope))
                .json()
                .get("key")
                .stringValue();
    }

    private record Operation(String method, String path, JsonNode description) {
        /// With ids that mean nothing, and no body.
        TestServer.Answer call(TestServer cay, Map<String, String> headers) {
            return call(cay, ID, headers);
        }

        TestServer.Answer call(TestServer cay, String id, Map<String, String> headers) {
            String filled = path.replace("{volumeID}", VOLUME).replaceAll("\\{[^/}]+}", id);
            return cay.request(method, filled + "?seconds=0", headers);
        }

        @Override
        public String toString() {
            return method + " " + path;
        }
    }

    private List<Operation> operations(String who) {
        var found = new ArrayList<Operation>();
        for (var path : cay.described().document().get("paths").properties()) {
            for (var operation : path.getValue().properties()) {
                if (operation.getValue().get("x-cay-who").stringValue().equals(who)) {
                    found.add(new Operation(
                            operation.getKey().toUpperCase(Locale.ROOT), path.getKey(), operation.getValue()));
                }
            }
        }
        assertThat(found).as("routes for " + who).isNotEmpty();
        return found;
    }
}
