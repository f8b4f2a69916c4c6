package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.OlderState;
import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.Placeholders;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// This Cay starts on the state that an older one left, with all that is in it, and the older one could go on with what
/// this one makes of it.
abstract class OlderStateContract {
    @TempDir
    Path directory = Path.of("unset");

    private final OlderState older;
    private Map<String, String> facts = Map.of();
    private TestServer cay;

    @SuppressWarnings("NullAway.Init")
    OlderStateContract(OlderState older) {
        this.older = older;
    }

    /// Fills the database with what the older one left.
    abstract void restore() throws Exception;

    abstract Store open() throws Exception;

    abstract Connection connect() throws Exception;

    @BeforeEach
    void start() throws Exception {
        older.writeFiles(directory);
        restore();
        facts = older.facts();
        var node = new FakeNode();
        node.addPaused(id("paused"));
        node.addPaused(id("running"));
        node.running.put(id("running"), node.pausedSpecs.remove(id("running")));
        node.paused.remove(id("running"));
        node.snapshots.put(fact("nodeSnapshot"), node.running.get(id("running")));
        node.volumes.sizes.put(new VolumeId(fact("volume")), 1L << 30);
        cay = TestServer.on(open(), directory, node, new FakeClock(), fact("key"));
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    private String fact(String name) {
        return String.valueOf(facts.get(name));
    }

    private SandboxId id(String name) {
        return new SandboxId(fact(name));
    }

    private TestServer.Answer as(String key, String method, String path, String body) {
        return cay.request(method, path, Map.of("X-API-Key", fact(key)), body);
    }

    @Test
    void itsSandboxesAreListedAndGoOn() {
        var listed = cay.call("GET", "/v2/sandboxes?state=running,paused");
        assertThat(listed.json().findValuesAsString("sandboxID"))
                .containsExactlyInAnyOrder(fact("running"), fact("paused"));
        assertThat(listed.text()).contains("\"who\":\"older\"");
        assertThat(cay.call("GET", "/sandboxes/" + fact("killed")).status()).isEqualTo(404);

        var resumed = cay.call("POST", "/sandboxes/%s/connect".formatted(fact("paused")), "{\"timeout\":600}");
        assertThat(resumed.status()).as(resumed.text()).isIn(200, 201);
        assertThat(cay.node.running).containsKey(id("paused"));
        assertThat(cay.call("DELETE", "/sandboxes/" + fact("running")).status()).isEqualTo(204);
        assertThat(cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}")
                        .status())
                .as("its template")
                .isEqualTo(201);
        assertThat(cay.call("GET", "/snapshots").json().size()).isEqualTo(1);
    }

    @Test
    void itsTeamsKeysAndSecretsWork() throws Exception {
        assertThat(as("teamKey", "GET", "/v2/sandboxes", "").text()).isEqualTo("[]");
        var made = as("teamKey", "POST", "/v2/sandboxes", "{\"templateID\":\"base\"}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        String sandbox = made.json().get("sandboxID").stringValue();
        assertThat(as("teamKey", "GET", "/sandboxes/" + sandbox, "").text())
                .as("the default of its team")
                .contains("8.8.8.0/24");
        assertThat(cay.admin("GET", "/admin/teams/%s/limits".formatted(fact("team")), "")
                        .text())
                .contains("\"sandboxes\":5");
        assertThat(cay.admin("GET", "/admin/teams/%s/members".formatted(fact("team")), "")
                        .text())
                .contains("a@example.com");
        assertThat(as("reader", "GET", "/v2/sandboxes", "").status()).isEqualTo(200);
        assertThat(as("reader", "DELETE", "/sandboxes/" + fact("running"), "").status())
                .isEqualTo(403);
        assertThat(value("api.example.com")).isEqualTo("sk-older");
        assertThat(cay.call("GET", "/events/webhooks").json().size()).isEqualTo(1);
        assertThat(cay.call("GET", "/volumes").json().findValuesAsString("volumeID"))
                .containsExactly(fact("volume"));
        var checked = cay.admin("GET", "/admin/audit/verification", "");
        assertThat(checked.status()).as(checked.text()).isEqualTo(200);
        assertThat(cay.admin("GET", "/admin/audit", "").json().findValuesAsString("action"))
                .contains("secret.create", "sandbox.pause");
    }

    private String value(String host) throws Placeholders.Unknown {
        return cay.node.placeholders.fill("${e2b.secrets.service-key}", id("running"), host, _ -> {});
    }

    @Test
    void theOlderOneUnderstandsWhatThisOneMakesOfIt() throws Exception {
        for (var call : List.of(
                cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}"),
                cay.call("POST", "/secrets", "{\"name\":\"newer\",\"value\":\"v\"}"),
                cay.call("PUT", "/templates/base/network", "{\"denyOut\":[\"8.8.8.8\"]}"))) {
            assertThat(call.status()).as(call.text()).isIn(200, 201);
        }
        try (var connection = connect()) {
            assertThat(OlderState.prepareAll(connection)).isGreaterThan(130);
            try (var statement = connection.createStatement();
                    var rows = statement.executeQuery("SELECT count(*) FROM sandbox")) {
                rows.next();
                assertThat(rows.getInt(1)).isEqualTo(4);
            }
        }
    }
}
