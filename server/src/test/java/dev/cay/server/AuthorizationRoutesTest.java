package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Who may begin and complete authorizations of remote MCP servers.
@Fast
final class AuthorizationRoutesTest extends ServerTest {
    @Test
    void onlyTheTeamOfASandboxBeginsAnAuthorization() throws Exception {
        String id = cay.create();
        String path = "/sandboxes/" + id + "/mcp/wiki/authorize";
        var state = cay.call("POST", path).json();
        assertThat(state.path("state").asString()).isEqualTo("needs authorization");
        assertThat(state.path("authorize").asString()).isEqualTo(FakeAuthorizations.URL);
        assertThat(cay.request("POST", path, Map.of()).status()).isEqualTo(401);
        assertThat(cay.call("POST", path.replace("wiki", "wikki")).status()).isEqualTo(404);
        assertThat(cay.call("POST", "/sandboxes/i11111111111111111111/mcp/wiki/authorize")
                        .status())
                .isEqualTo(404);
        cay.close();
        cay = TestServer.again(
                directory,
                cay,
                store -> store.write(handle -> {
                    handle.execute("INSERT INTO team (id, name, slug, created_at) VALUES ('t2', 'b', 'b', 9e15)");
                    return handle.execute("UPDATE sandbox SET team_id = 't2' WHERE id = ?", id);
                }));
        assertThat(cay.call("POST", path).status()).as("another team's sandbox").isEqualTo(404);
    }

    @Test
    void aBrowserCompletesWhatItsStateBelongsTo() throws Exception {
        assertThat(cay.request("HEAD", "/mcp/oauth/callback?state=good&code=c", Map.of())
                        .status())
                .isEqualTo(405);
        assertThat(cay.authorizations.redirects).isEmpty();
        var done = cay.request("GET", "/mcp/oauth/callback?state=good&code=c%2B1&iss=https%3A%2F%2Fl", Map.of());
        assertThat(done.status()).isEqualTo(200);
        assertThat(done.text()).contains("The MCP server wiki can be used by sandbox abc now");
        assertThat(done.header("Cache-Control")).isEqualTo("no-store");
        assertThat(done.header("Referrer-Policy")).isEqualTo("no-referrer");
        assertThat(done.header("Content-Security-Policy")).startsWith("default-src 'none'");
        var redirect = cay.authorizations.redirects.take();
        assertThat(redirect.code()).isEqualTo("c+1");
        assertThat(redirect.issuer()).isEqualTo("https://l");
        assertThat(redirect.toString()).doesNotContain("c+1", "good");
        var refused = cay.request("GET", "/mcp/oauth/callback?state=bad&error=%3Cscript%3E", Map.of());
        assertThat(refused.status()).isEqualTo(404);
        assertThat(refused.text()).contains("&lt;not&gt; good any more").doesNotContain("<not>", "script");
        var brought = cay.call("GET", "/mcp/oauth/callback?state=good&code=c");
        assertThat(brought.json().path("server").asString()).isEqualTo("wiki");
        assertThat(cay.call("GET", "/mcp/oauth/callback?state=bad&code=c").message())
                .contains("good any more");
    }

    @Test
    void theAuditLogTellsOfTheTeamsSandboxThatWasAuthorizedAndOfGuessedStates() {
        String id = cay.create();
        cay.authorizations.sandbox = new SandboxId(id);
        assertThat(cay.request("GET", "/mcp/oauth/callback?state=good&code=secret", Map.of())
                        .status())
                .isEqualTo(200);
        cay.request("GET", "/mcp/oauth/callback?state=guessed&code=secret", Map.of());
        String path = "/admin/audit?action=sandbox.mcp.authorized";
        TestServer.await("both", () -> cay.admin("GET", path, "").json().size() == 2);
        var entries = cay.admin("GET", path, "").json();
        assertThat(entries.get(1).get("sandbox").stringValue()).isEqualTo(id);
        assertThat(entries.get(1).get("actor").stringValue()).isEqualTo("link");
        assertThat(entries.get(1).has("team")).isTrue();
        assertThat(entries.get(0).get("result").stringValue()).isEqualTo("failed");
        assertThat(entries.toString()).doesNotContain("guessed", "secret");
    }

    @Test
    void nobodyInsideASandboxReachesTheCallback() throws Exception {
        String id = cay.create();
        assertThat(cay.requestFromInside(new SandboxId(id), "/mcp/oauth/callback?state=good&code=c", Map.of())
                        .status())
                .isEqualTo(404);
        assertThat(cay.authorizations.redirects).isEmpty();
    }

    @Test
    void authorizationServersReadWhoThisCayIs() {
        assertThat(cay.request("GET", "/mcp/oauth/client.json", Map.of())
                        .json()
                        .path("client_name")
                        .asString())
                .isEqualTo("Cay");
    }
}
