package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Webhooks are made, changed, tested and deleted by their team, and lead to public addresses alone.
interface WebhookRegistrationContract extends WebhookCalls {
    @Test
    default void aWebhookIsChangedAndDeletedAndThenGetsNothing() throws Exception {
        String hook = hook();
        String path = "/events/webhooks/" + hook;
        var changed = cay().call("PATCH", path, "{\"signatureSecret\":\"other\",\"name\":\"new\"}");
        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().get("name").stringValue()).isEqualTo("new");
        assertThat(changed.text()).doesNotContain("other", "geheim");
        String id = sandbox();
        awaitRequests(1);
        var request = receiver().requests.getFirst();
        assertThat(request.headers()).containsEntry("e2b-signature", signature("other", request.body()));
        // An attempt that is not on record yet may be made again.
        awaitAttempts(hook, 1);
        cay().call("PATCH", path, "{\"events\":[\"sandbox.lifecycle.killed\"]}");
        touch(id);
        cay().call("PATCH", path, "{\"enabled\":false}");
        cay().call("DELETE", "/sandboxes/" + id);
        assertQuiet(1);
        assertThat(cay().call("GET", "/events/webhooks").json()).hasSize(1);
        cay().call("PATCH", path, "{\"enabled\":true}");
        assertThat(cay().call("DELETE", path).status()).isEqualTo(200);
        assertThat(cay().call("GET", path).status()).isEqualTo(404);
        assertThat(cay().call("DELETE", path).status()).isEqualTo(404);
        assertThat(cay().call("GET", "/events/webhooks").json()).isEmpty();
        sandbox();
        assertQuiet(1);
    }

    @Test
    default void theSecretIsSealedInTheDatabase() {
        String hook = hook();
        String kept = cay().store
                .read(handle -> handle.createQuery("SELECT secret FROM webhook WHERE id = :id")
                        .bind("id", hook)
                        .mapTo(String.class)
                        .one());
        assertThat(kept).isNotEmpty().doesNotContain("geheim");
        assertThat(new String(Base64.getDecoder().decode(kept), StandardCharsets.ISO_8859_1))
                .doesNotContain("geheim");
        assertThat(cay().call("GET", "/events/webhooks/" + hook).text()).doesNotContain("geheim", kept);
    }

    @Test
    default void aTestTellsAtOnceWhetherTheReceiverAnswers() throws Exception {
        String path = "/events/webhooks/" + hook() + "/test";
        assertThat(cay().call("POST", path).json().get("status").stringValue()).isEqualTo("success");
        var request = receiver().requests.getFirst();
        assertThat(request.json().get("type").stringValue()).isEqualTo("cay.webhook.test");
        assertThat(request.headers()).containsEntry("e2b-signature", signature("geheim", request.body()));
        receiver().close();
        var failed = cay().call("POST", path).json();
        assertThat(failed.get("status").stringValue()).isEqualTo("failed");
        assertThat(failed.get("errorClass").stringValue()).isEqualTo("transport_error");
    }

    /// A receiver that hangs must not let a client open as many connections as it likes.
    @Test
    default void oneTestOfAWebhookWaitsAtATime() throws Exception {
        String path = "/events/webhooks/" + hook() + "/test";
        receiver().status = Receiver.HANG;
        var first = new Thread(() -> cay().call("POST", path));
        first.start();
        TestServer.await("the first test", () -> !receiver().requests.isEmpty());
        var second = cay().call("POST", path);
        assertThat(second.status()).isEqualTo(429);
        assertThat(second.header("Retry-After")).isEqualTo("2");
        assertThat(receiver().requests).hasSize(1);
        first.join();
        receiver().status = 200;
        assertThat(cay().call("POST", path).json().get("status").stringValue()).isEqualTo("success");
    }

    @Test
    default void anotherTeamsWebhookIsNotThere() throws Exception {
        String hook = hook();
        String path = "/events/webhooks/" + hook;
        String other = cay().keyOfAnotherTeam();
        for (String call : List.of(
                "GET ", "PATCH ", "DELETE ", "GET /deliveries", "GET /stats", "POST /redeliveries", "POST /test")) {
            String[] parts = call.split(" ", 2);
            var answer = cay().call(parts[0], path + parts[1], "{\"failed\":true}", "X-API-Key", other);
            assertThat(answer.status()).as(call).isEqualTo(404);
            assertThat(answer.text())
                    .as(call)
                    .isEqualTo(cay().call("GET", "/events/webhooks/" + hook, "", "X-API-Key", other)
                            .text());
        }
        assertThat(cay().call("GET", "/events/webhooks", "", "X-API-Key", other).json())
                .isEmpty();
        assertThat(cay().call("GET", path).json().get("name").stringValue()).isEqualTo("mine");
        var foreign = cay().call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}", "X-API-Key", other);
        assertThat(foreign.status()).isEqualTo(201);
        String own = sandbox();
        await(own, "create");
        assertThat(receiver().requests).hasSize(1);
    }

    @Test
    default void addressesThatAreNotPublicAreRefusedAndTheMessageNamesTheSetting() {
        for (String host : List.of(
                "10.0.0.1",
                "127.0.0.2",
                "169.254.169.254",
                "192.168.1.1:8080",
                "[::1]",
                "[::ffff:10.0.0.1]",
                "[fd00::1]",
                "0.0.0.0")) {
            for (String method : List.of("POST", "PATCH")) {
                String path = method.equals("POST") ? "/events/webhooks" : "/events/webhooks/" + hook();
                var answer = cay().call(method, path, """
                        {"name": "n", "url": "http://%s/x", "events": %s, "signatureSecret": "s"}
                        """.formatted(host, ALL));
                assertThat(answer.status()).as(host).isEqualTo(400);
                assertThat(answer.message()).as(host).contains("'url'", "webhooks.allow");
            }
        }
    }

    @Test
    default void wrongRequestsNameTheField() {
        String url = receiver().url();
        for (String[] wrong : new String[][] {
            {"'name' is required", "{}"},
            {"'url' is required", "{\"name\":\"n\"}"},
            {"'events' is required", "{\"name\":\"n\",\"url\":\"%s\"}".formatted(url)},
            {
                "'signatureSecret' is required",
                "{\"name\":\"n\",\"url\":\"%s\",\"events\":[\"sandbox.lifecycle.killed\"]}".formatted(url)
            },
            {"'events' must name at least one", "{\"events\":[]}"},
            {"'events' has 'x'", "{\"events\":[\"x\"]}"},
            {"'url' must be an address", "{\"url\":\"ftp://127.0.0.1/\"}"},
            {"'url' must be an address", "{\"url\":\"nothing at all\"}"},
            {"'url' must be an address", "{\"url\":\"http://127.0.0.1:0/\"}"},
            {"'url' must be an address", "{\"url\":\"http://127.0.0.1:65536/\"}"},
            {"'url' must not hold a user", "{\"url\":\"http://u:p@127.0.0.1/\"}"},
            {"'name' must have", "{\"name\":\" \"}"},
            {"no control characters", "{\"name\":\"\\u001b[31mred\"}"},
            {"'signatureSecret' must have", "{\"signatureSecret\":\"\"}"},
            {"'enabled' must be true or false", "{\"enabled\":1}"}
        }) {
            var answer = cay().call("POST", "/events/webhooks", wrong[1]);
            assertThat(answer.status()).as(wrong[1]).isEqualTo(400);
            assertThat(answer.message()).as(wrong[1]).contains(wrong[0]);
        }
        assertThat(cay().request("GET", "/events/webhooks", Map.of()).status()).isEqualTo(401);
        for (int i = 0; i < 20; i++) {
            hook();
        }
        var tooMany = cay().call("POST", "/events/webhooks", """
                {"name": "n", "url": "%s", "events": %s, "signatureSecret": "s"}
                """.formatted(url, ALL));
        assertThat(tooMany.status()).isEqualTo(409);
        assertThat(tooMany.message()).contains("20 webhooks");
    }
}
