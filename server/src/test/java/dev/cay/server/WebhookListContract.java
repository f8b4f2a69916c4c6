package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Lists of deliveries and events tell what was sent, page by page, and look at so many rows and no more.
interface WebhookListContract extends WebhookCalls {
    @Test
    default void deliveriesTellWhatWasSentAndStatsHowMuch() {
        String hook = hook();
        receiver().refuses = request -> request.label().equals("create");
        String id = sandbox();
        awaitAttempts(hook, 1);
        receiver().refuses = _ -> false;
        cay().clock.pass(Duration.ofSeconds(10));
        await(id, "create");
        touch(id);
        await(id, "create", "update");
        awaitAttempts(hook, 3);
        var groups = deliveries(hook, "").get("data");
        assertThat(groups).hasSize(2);
        var group = groups.get(1);
        assertThat(group.get("eventId").stringValue()).isEqualTo(eventIds(id).getFirst());
        assertThat(group.get("eventType").stringValue()).isEqualTo("sandbox.lifecycle.created");
        assertThat(group.get("sandboxId").stringValue()).isEqualTo(id);
        assertThat(group.get("state").stringValue()).isEqualTo("delivered");
        assertThat(group.get("attempts")).hasSize(2);
        var failed = group.get("attempts").get(0);
        assertThat(failed.get("status").stringValue()).isEqualTo("failed");
        assertThat(failed.get("errorClass").stringValue()).isEqualTo("http_error");
        assertThat(failed.get("responseHttpStatusCode").intValue()).isEqualTo(500);
        assertThat(failed.get("responseBody").stringValue()).isEqualTo("said 500");
        assertThat(failed.get("requestBody").stringValue())
                .isEqualTo(receiver().requests.getFirst().body());
        assertThat(failed.get("requestUrl").stringValue()).isEqualTo(receiver().url());
        assertThat(failed.get("requestHeaders").stringValue())
                .contains("e2b-delivery-id", failed.get("id").stringValue())
                .doesNotContain(receiver().requests.getFirst().headers().get("e2b-signature"));
        var succeeded = group.get("attempts").get(1);
        assertThat(succeeded.get("status").stringValue()).isEqualTo("success");
        assertThat(succeeded.get("errorClass").isNull()).isTrue();
        checkFilters(hook);
        var stats = cay().call("GET", "/events/webhooks/" + hook + "/stats").json();
        assertThat(stats.get("total").intValue()).isEqualTo(3);
        assertThat(stats.get("failed").intValue()).isEqualTo(1);
        assertThat(stats.get("buckets")).hasSize(25);
        assertThat(stats.get("durationMs").get("maximum").doubleValue())
                .isGreaterThanOrEqualTo(stats.get("durationMs").get("average").doubleValue());
    }

    /// However many attempts there are, other requests do not wait for statistics.
    @Test
    default void statsReadABoundedNumberOfAttempts() {
        String hook = hook();
        Instant now = cay().clock.instant();
        cay().store
                .write(handle -> handle.createUpdate("""
                        INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url,
                            request_headers, error_class)
                        WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 119999)
                        SELECT 'a' || n, :hook, 'e' || n, :now - n, CASE WHEN n < 100000 THEN 5 ELSE 7000 END, 'u',
                            '{}', CASE WHEN n % 2 = 0 THEN 'TIMEOUT' END
                        FROM number WHERE true ON CONFLICT (id) DO NOTHING
                        """)
                        .bind("hook", hook)
                        .bind("now", now.toEpochMilli())
                        .execute());
        var stats = cay().call("GET", "/events/webhooks/" + hook + "/stats").json();
        assertThat(stats.get("total").intValue()).isEqualTo(100_000);
        assertThat(stats.get("failed").intValue()).isEqualTo(50_000);
        assertThat(stats.get("durationMs").get("maximum").intValue()).isEqualTo(5);
        String older = "/events/webhooks/%s/stats?end=%s".formatted(hook, now.minusMillis(100_000));
        assertThat(cay().call("GET", older).json().get("total").intValue()).isEqualTo(19_999);
    }

    private void checkFilters(String hook) {
        assertThat(deliveries(hook, "?deliveryStatus=failed").get("data")).isEmpty();
        assertThat(deliveries(hook, "?deliveryStatus=failed,success").get("data"))
                .hasSize(2);
        assertThat(deliveries(hook, "?eventType=sandbox.lifecycle.updated").get("data"))
                .hasSize(1);
        assertThat(deliveries(hook, "?eventType=sandbox.lifecycle.updated&eventType=sandbox.lifecycle.created")
                        .get("data"))
                .hasSize(2);
        assertThat(deliveries(hook, "?start=2026-09-21T10:00:01Z").get("data")).hasSize(1);
        assertThat(deliveries(hook, "?end=2026-09-21T10:00:01Z").get("data")).hasSize(1);
        var first = deliveries(hook, "?limit=1&orderAsc=true");
        assertThat(first.get("data").get(0).get("eventType").stringValue()).endsWith("created");
        var second = deliveries(
                hook, "?limit=1&orderAsc=true&cursor=" + first.get("nextCursor").stringValue());
        assertThat(second.get("data").get(0).get("eventType").stringValue()).endsWith("updated");
        assertThat(second.get("nextCursor").isNull()).isTrue();
        for (String wrong : List.of("limit=0", "deliveryStatus=x", "eventType=x", "start=x", "cursor=x")) {
            assertThat(cay().call("GET", "/events/webhooks/" + hook + "/deliveries?" + wrong)
                            .status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    /// Others wait for the database while one request looks for what is not there.
    @Test
    default void oneRequestLooksAtSoManyDeliveriesAndNoMore() {
        String hook = hook();
        cay().store
                .write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                SELECT ?, 'e' || i, 'sandbox.lifecycle.updated', 'other', '{}', 'DELIVERED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, cay().clock.instant().toEpochMilli()));
        cay().store.write(handle -> handle.execute("""
                INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers,
                    error_class, error_message)
                SELECT 'a' || event_id, webhook_id, event_id, 0, 1, 'u', '{}',
                    CASE WHEN event_id IN ('e1', 'e7000') THEN 'TIMEOUT' END, NULL
                FROM webhook_message WHERE webhook_id = ? AND event_id LIKE 'e%'
                ON CONFLICT (id) DO NOTHING
                """, hook));
        for (boolean ascending : List.of(false, true)) {
            var events = new ArrayList<String>();
            int pages = 0;
            String cursor = "";
            do {
                var page =
                        deliveries(hook, "?deliveryStatus=failed&orderAsc=%s&cursor=%s".formatted(ascending, cursor));
                page.get("data")
                        .forEach(group -> events.add(group.get("eventId").stringValue()));
                var next = page.get("nextCursor");
                cursor = next.isNull() ? "" : next.stringValue();
                pages++;
            } while (!cursor.isEmpty());
            assertThat(events).isEqualTo(ascending ? List.of("e1", "e7000") : List.of("e7000", "e1"));
            assertThat(pages).isEqualTo(3);
        }
    }

    /// The same for events of all sandboxes, of which a rare type is asked for.
    @Test
    default void eventsAreListedPageByPageAndOneRequestLooksAtSoMany() {
        String id = sandbox();
        String created = eventIds(id).getFirst();
        for (int from = 0; from < 120_000; from += 20_000) {
            long first = from + 1;
            cay().store.write(handle -> handle.execute("""
                INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data, happened_at)
                WITH RECURSIVE n(i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                SELECT 'e' || i, CASE WHEN i IN (5, 110000) THEN 'KILLED' ELSE 'UPDATED' END, team_id, sandbox_id,
                    template_id, build_id, execution_id, '{}', happened_at
                FROM event, n WHERE id = ? AND i > 0 ON CONFLICT (id) DO NOTHING
                """, first, first + 19_999, created));
        }
        for (String path : List.of("/events/sandboxes", "/events/sandboxes/" + id)) {
            for (boolean ascending : List.of(false, true)) {
                var killed = pages(path + "?types=sandbox.lifecycle.killed&orderAsc=" + ascending);
                assertThat(killed.stream().flatMap(List::stream).toList())
                        .isEqualTo(ascending ? List.of("e5", "e110000") : List.of("e110000", "e5"));
                assertThat(killed).hasSize(2);
            }
            var first = cay().call("GET", path + "?limit=100");
            assertThat(first.json().get(0).get("id").stringValue()).isEqualTo("e120000");
            var second = cay().call("GET", path + "?limit=100&nextToken=" + first.header("X-Next-Token"));
            assertThat(second.json().get(0).get("id").stringValue()).isEqualTo("e119900");
            assertThat(cay().call("GET", path + "?limit=1&offset=10000")
                            .json()
                            .get(0)
                            .get("id")
                            .stringValue())
                    .isEqualTo("e110000");
            var tooFar = cay().call("GET", path + "?offset=10001");
            assertThat(tooFar.status()).isEqualTo(400);
            assertThat(tooFar.message()).contains("'offset' must be at most 10000", "nextToken");
            assertThat(cay().call("GET", path + "?nextToken=x").status()).isEqualTo(400);
        }
    }

    private List<List<String>> pages(String path) {
        var pages = new ArrayList<List<String>>();
        String token = "";
        do {
            var answer = cay().call("GET", path + "&nextToken=" + token);
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            pages.add(answer.json().values().stream()
                    .map(event -> event.get("id").stringValue())
                    .toList());
            token = answer.header("X-Next-Token");
        } while (token != null);
        return pages;
    }

    /// A page is made in memory as a whole.
    @Test
    default void aPageOfDeliveriesIsNeverHuge() throws Exception {
        String hook = hook();
        String body = "{\"x\": \"%s\"}".formatted("x".repeat(100_000));
        cay().store
                .write(handle ->
                        handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                SELECT ?, 'e' || i, 'sandbox.lifecycle.updated', 'other', ?, 'FAILED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, body, cay().clock.instant().toEpochMilli()));
        cay().store.write(handle -> handle.execute("""
                INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers,
                    error_class, error_message)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
                SELECT 'a' || i, ?, 'e' || (i % 40 + 1), i, 1, 'u', '{}', 'TIMEOUT', 'no answer' FROM n WHERE i > 0
                ON CONFLICT (id) DO NOTHING
                """, hook));
        var events = new ArrayList<String>();
        String cursor = "";
        do {
            var answer =
                    cay().call("GET", "/events/webhooks/%s/deliveries?limit=100&cursor=%s".formatted(hook, cursor));
            assertThat(answer.text().length()).isLessThan(11_000_000);
            answer.json().get("data").forEach(group -> {
                events.add(group.get("eventId").stringValue());
                assertThat(group.get("attempts")).hasSize(20);
            });
            var next = answer.json().get("nextCursor");
            cursor = next.isNull() ? "" : next.stringValue();
        } while (!cursor.isEmpty());
        assertThat(events).hasSize(40).doesNotHaveDuplicates().startsWith("e40").endsWith("e1");
    }

    @Test
    default void anOrderThatIsNoneIsRefused() {
        for (String path : List.of("/events/webhooks/%s/deliveries".formatted(hook()), "/events/sandboxes")) {
            var answer = cay().call("GET", path + "?orderAsc=yes");
            assertThat(answer.status()).as(path).isEqualTo(400);
            assertThat(answer.message()).contains("'orderAsc' must be true or false");
            assertThat(cay().call("GET", path + "?orderAsc=TRUE").status()).isEqualTo(200);
        }
    }
}
