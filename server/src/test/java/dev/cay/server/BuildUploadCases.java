package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Files for a build are sent by links.
interface BuildUploadCases extends BuildCalls {
    @Test
    default void aLinkEndsWithTheKeyThatItWasGivenTo() throws Exception {
        String at =
                "/templates/" + request("{\"name\":\"mine\"}").get("templateID").stringValue() + "/files/";
        String url = cay().call("GET", at + HASH).json().get("url").stringValue();
        String path = url.substring(url.indexOf("/templates/"));
        var key = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"templates\"}")
                .json();
        String given = cay().request(
                        "GET", at + HASH, Map.of("X-API-Key", key.get("key").stringValue()))
                .json()
                .get("url")
                .stringValue();
        given = given.substring(given.indexOf("/templates/"));
        assertThat(put(given, "an archive")).isEqualTo(200);
        assertThat(put(given.replaceFirst("holder=[^&]+", "holder=k-0"), "x"))
                .as("of another key")
                .isEqualTo(403);
        cay().call("DELETE", "/api-keys/" + key.get("id").stringValue());
        assertThat(put(given, "x")).as("its key was revoked").isEqualTo(401);
        assertThat(put(path, "x")).as("the control").isEqualTo(200);
    }

    @Test
    default void filesAreSentByALinkThatNobodyCanMake() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        String at = "/templates/" + requested.get("templateID").stringValue() + "/files/";
        assertThat(cay().call("GET", at + "abc").status()).isEqualTo(400);
        var link = cay().call("GET", at + HASH);
        assertThat(link.status()).isEqualTo(201);
        assertThat(link.json().get("present").booleanValue()).isFalse();
        String url = link.json().get("url").stringValue();
        String path = url.substring(url.indexOf("/templates/"));
        assertThat(put(path, "an archive")).isEqualTo(200);
        var again = cay().call("GET", at + HASH).json();
        assertThat(again.get("present").booleanValue()).isTrue();
        assertThat(again.get("url").stringValue()).isNotEmpty();
        assertThat(put(path.replace(HASH, "f".repeat(64)), "x"))
                .as("for other files")
                .isEqualTo(403);
        assertThat(put(path.replaceFirst("until=\\d+", "until=99999999999"), "x"))
                .as("for a longer time")
                .isEqualTo(403);
        assertThat(put(path.replaceFirst("team=[^&]+", "team=another"), "x"))
                .as("for another team")
                .isEqualTo(403);
        assertThat(put(path, "x".repeat((1 << 20) + 1))).as("too large").isEqualTo(400);
        cay().clock.pass(Duration.ofMinutes(29));
        assertThat(put(path, "an archive")).isEqualTo(200);
        cay().clock.pass(Duration.ofMinutes(2));
        assertThat(put(path, "x")).as("too late").isEqualTo(403);
        String entries = "/admin/audit?action=template.upload";
        TestServer.await("all", () -> cay().admin("GET", entries, "").json().size() == 7);
        var audited = cay().admin("GET", entries, "");
        assertThat(audited.json().findValuesAsString("result"))
                .containsExactly("refused", "ok", "failed", "refused", "refused", "refused", "ok");
        var good = audited.json().get(6);
        assertThat(good.get("credential").stringValue()).isEqualTo("signed link");
        assertThat(good.get("team").stringValue()).isNotEmpty();
        assertThat(audited.text()).doesNotContain("signature", HASH);
    }

    private int put(String path, String content) {
        return cay().request("PUT", path, Map.of(), content).status();
    }
}
