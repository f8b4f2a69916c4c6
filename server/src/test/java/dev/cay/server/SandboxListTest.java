package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

@Fast
final class SandboxListTest extends ServerTest {
    @Test
    void pagesNewestFirstAndTheLastHasNoToken() {
        var created = create(5);
        Collections.reverse(created);
        var seen = new ArrayList<String>();
        var pages = walk("limit=2", seen);
        assertThat(seen).isEqualTo(created);
        assertThat(pages).isEqualTo(3);
        seen.clear();
        assertThat(walk("limit=5", seen)).isEqualTo(1);
    }

    @Test
    void ascendingIsExactlyTheReverseAlsoForEqualTimes() {
        for (int i = 0; i < 6; i++) {
            cay.create();
        }
        var descending = new ArrayList<String>();
        walk("limit=4", descending);
        var ascending = new ArrayList<String>();
        walk("limit=1&order=asc", ascending);
        Collections.reverse(ascending);
        assertThat(ascending).isEqualTo(descending).hasSize(6);
    }

    @Test
    void aSandboxKilledBetweenPagesHidesNoOther() {
        var created = create(4);
        var first = cay.call("GET", "/v2/sandboxes?limit=2");
        cay.call("DELETE", "/sandboxes/" + created.get(2));
        var rest = cay.call("GET", "/v2/sandboxes?limit=2&nextToken=" + first.header("X-Next-Token"));
        assertThat(ids(rest)).containsExactly(created.get(1), created.get(0));
    }

    @Test
    void saysWhatHappensAtTheEndAndWithWhichKeyItWasMade() {
        cay.create("{\"templateID\":\"base\",\"autoPause\":true}");
        var keys = cay.call("GET", "/api-keys").json();
        var listed = cay.call("GET", "/v2/sandboxes").json().get(0);
        assertThat(listed.get("lifecycle").get("onTimeout").stringValue()).isEqualTo("pause");
        assertThat(listed.get("keyID")).isEqualTo(keys.get(0).get("id"));
        var id = listed.get("sandboxID").stringValue();
        assertThat(cay.call("GET", "/sandboxes/" + id).json().get("keyID")).isEqualTo(listed.get("keyID"));
    }

    @Test
    void filtersByMetadataAsClientsEncodeIt() {
        String wanted = cay.create("{\"templateID\":\"base\",\"metadata\":{\"a b\":\"c&d\",\"x\":\"y\"}}")
                .get("sandboxID")
                .stringValue();
        cay.create("{\"templateID\":\"base\",\"metadata\":{\"a b\":\"other\"}}");
        cay.create();
        var answer = cay.call("GET", "/v2/sandboxes?metadata=a%252520b%3Dc%252526d&state=running,paused&limit=10");
        assertThat(ids(answer)).containsExactly(wanted);
        assertThat(answer.header("X-Total-Running")).isEqualTo("1");
        assertThat(ids(cay.call("GET", "/sandboxes?metadata=a%252520b%3Dc%252526d")))
                .containsExactly(wanted);
        assertThat(ids(cay.call("GET", "/v2/sandboxes?metadata=x%3Dy%26a%252520b%3Dc%252526d")))
                .containsExactly(wanted);
    }

    @Test
    void filtersByStateTimeAndTemplate() {
        var created = create(3);
        assertThat(ids(cay.call("GET", "/v2/sandboxes?state=paused"))).isEmpty();
        assertThat(cay.call("GET", "/v2/sandboxes?state=paused").header("X-Total-Running"))
                .isNull();
        assertThat(ids(cay.call("GET", "/v2/sandboxes?startedAfter=2026-09-21T10:00:01Z")))
                .containsExactly(created.get(2), created.get(1));
        assertThat(ids(cay.call("GET", "/v2/sandboxes?template=base"))).hasSize(3);
        assertThat(ids(cay.call("GET", "/v2/sandboxes?template=nothing"))).isEmpty();
        var counted = cay.call("GET", "/v2/sandboxes?limit=1");
        assertThat(counted.header("X-Total-Running")).isEqualTo("3");
    }

    @Test
    void refusesWhatItDoesNotUnderstand() {
        for (String query : List.of(
                "limit=0",
                "limit=101",
                "limit=x",
                "order=up",
                "state=dead",
                "nextToken=nonsense",
                "nextToken=%21",
                "metadata=a",
                "metadata=a%3Db%3Dc",
                "metadata=%2525zz%3Db",
                "startedAfter=yesterday",
                "template=base%3Adefault")) {
            var answer = cay.call("GET", "/v2/sandboxes?" + query);
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.json().get("code").intValue()).isEqualTo(400);
        }
    }

    private List<String> create(int count) {
        var ids = new ArrayList<String>();
        for (int i = 0; i < count; i++) {
            ids.add(cay.create());
            cay.clock.pass(Duration.ofSeconds(1));
        }
        return ids;
    }

    private int walk(String query, List<String> seen) {
        @Nullable String token = null;
        int pages = 0;
        do {
            String path = "/v2/sandboxes?" + query
                    + (token == null ? "" : "&nextToken=" + URLEncoder.encode(token, StandardCharsets.UTF_8));
            var answer = cay.call("GET", path);
            assertThat(answer.status()).isEqualTo(200);
            seen.addAll(ids(answer));
            token = answer.header("X-Next-Token");
            pages++;
        } while (token != null);
        return pages;
    }

    private static List<String> ids(TestServer.Answer answer) {
        var ids = new ArrayList<String>();
        for (var sandbox : answer.json()) {
            ids.add(sandbox.get("sandboxID").stringValue());
        }
        return ids;
    }
}
