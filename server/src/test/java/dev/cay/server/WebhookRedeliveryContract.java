package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A team asks for events again, and not for too many at a time.
interface WebhookRedeliveryContract extends WebhookCalls {
    /// Later events were sent already when somebody asks for this one again.
    @Test
    default void anEventThatIsSentAgainAndFailsHoldsUpNothingAndIsSoonGivenUp() {
        String hook = hook();
        String id = sandbox();
        await(id, "create");
        awaitAttempts(hook, 1);
        receiver().refuses = request -> request.label().equals("create");
        String created = eventIds(id).getFirst();
        String path = "/events/webhooks/" + hook + "/redeliveries";
        assertThat(cay().call("POST", path, "{\"eventId\":\"" + created + "\"}").status())
                .isEqualTo(202);
        awaitAttempts(hook, 2);
        touch(id);
        await(id, "create", "update");
        awaitAttempts(hook, 3);
        for (int retry = 1; retry <= 3; retry++) {
            assertThat(states(id)).containsExactlyInAnyOrder("OPEN", "DELIVERED");
            cay().clock.pass(Duration.ofSeconds(10));
            awaitAttempts(hook, 3 + retry);
        }
        TestServer.await("given up", () -> states(id).contains("FAILED"));
        cay().clock.pass(Duration.ofHours(2));
        assertQuiet(6);
        receiver().refuses = _ -> false;
        assertThat(cay().call("POST", path, "{\"failed\":true}").text()).isEqualTo("{\"events\":1,\"left\":0}");
        await(id, "create", "update", "create");
    }

    /// It goes on as before: a day is a day, however often somebody asks.
    @Test
    default void anOpenEventThatIsSentAgainIsDueAtOnceAndKeepsItsPlace() {
        String hook = hook();
        receiver().status = 500;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        String created = eventIds(id).getFirst();
        cay().call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"" + created + "\"}");
        awaitAttempts(hook, 2);
        assertQuiet(2);
        receiver().status = 200;
        cay().clock.pass(Duration.ofSeconds(10));
        await(id, "create", "update");
    }

    /// A team that fills the database while its receiver is away would fill it for all.
    @Test
    default void whatIsTooMuchForAReceiverIsGivenUpAndCanBeSentLater() throws Exception {
        String hook = hook();
        long later = cay().clock.instant().plusSeconds(600).toEpochMilli();
        cay().store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                SELECT ?, 'e' || i, 'x', 'other', '{}', 'OPEN', 0, ?, ? FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, later, later));
        String last = sandbox();
        TestServer.await("delivered", () -> states(last).equals(List.of("DELIVERED")));
        cay().store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                VALUES (?, 'one more', 'x', 'other', '{}', 'OPEN', 0, ?, ?)
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, later, later));
        awaitFull(1);
        String tooMany = sandbox();
        assertThat(states(tooMany)).containsExactly("FAILED");
        assertGivenUp(hook, tooMany, "10000 events waited");
        cay().store.write(handle -> handle.execute("DELETE FROM webhook_message WHERE sandbox_id = 'other'"));
        var again = cay().call("POST", "/events/webhooks/%s/redeliveries".formatted(hook), "{\"failed\":true}");
        assertThat(again.status()).as(again.text()).isEqualTo(202);
        assertThat(again.text()).isEqualTo("{\"events\":1,\"left\":0}");
        await(tooMany, "create");
        TestServer.await("the record", () -> states(tooMany).equals(List.of("DELIVERED")));
        assertThat(deliveries(hook, "?deliveryStatus=failed").get("data")).isEmpty();
        awaitFull(0);
        await(sandbox(), "create");
    }

    private void awaitFull(int webhooks) {
        TestServer.await(
                webhooks + " full webhooks",
                () -> cay().store
                                .<Integer>read(
                                        handle -> handle.createQuery("SELECT count(*) FROM webhook WHERE is_full = 1")
                                                .mapTo(Integer.class)
                                                .one())
                        == webhooks);
    }

    /// Otherwise a team would make others wait for one transaction as long as it likes, and fill the database.
    @Test
    default void onlySoManyAreSentAgainAtATime() throws Exception {
        String hook = hook();
        receiver().status = Receiver.HANG;
        cay().store
                .write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10010)
                SELECT ?, 'e' || i, 'x', 'other', '{}', 'FAILED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, cay().clock.instant().toEpochMilli()));
        String path = "/events/webhooks/%s/redeliveries".formatted(hook);
        var first = cay().call("POST", path, "{\"failed\":true}");
        assertThat(first.text()).isEqualTo("{\"events\":10000,\"left\":10}");
        assertThat(cay().store
                        .<List<String>>read(handle -> handle.createQuery(
                                        "SELECT event_id FROM webhook_message WHERE state = 'FAILED' ORDER BY sequence")
                                .mapTo(String.class)
                                .list()))
                .hasSize(10)
                .startsWith("e10001")
                .endsWith("e10010");
        var second = cay().call("POST", path, "{\"failed\":true}");
        assertThat(second.status()).as(second.text()).isEqualTo(409);
        assertThat(second.message()).contains("10000 events wait");
    }

    private List<String> states(String sandbox) {
        return cay().store
                .read(handle -> handle.createQuery("SELECT state FROM webhook_message WHERE sandbox_id = ?")
                        .bind(0, sandbox)
                        .mapTo(String.class)
                        .list());
    }
}
