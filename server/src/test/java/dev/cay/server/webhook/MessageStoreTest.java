package dev.cay.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is kept of messages, and which come next where the clock was set back.
@Fast
final class MessageStoreTest {
    private static final Instant NOW = Instant.parse("2026-09-21T10:00:00Z");
    private static final Instant WEEK_AGO = NOW.minus(Duration.ofDays(7));

    @TempDir
    private Path directory = Path.of("unset");

    private static int webhook(Handle handle, String id, int enabled) {
        handle.execute(
                "INSERT INTO team (id, name, slug, created_at) VALUES ('t', 't', 't', 0) ON CONFLICT DO NOTHING");
        return handle.execute(
                "INSERT INTO webhook (id, team_id, name, url, events, secret, enabled, created_at) VALUES (?, 't', 'n', 'u', '[]', 's', ?, 0)",
                id,
                enabled);
    }

    private static int message(Handle handle, String webhook, String event, String state, Instant at) {
        handle.execute(
                "INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers) VALUES (?, ?, ?, 0, 1, 'u', '{}')",
                webhook + event,
                webhook,
                event);
        return handle.execute(
                "INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts, created_at, next_at) VALUES (?, ?, 't', 's', 'b', ?, 0, ?, ?)",
                webhook,
                event,
                state,
                at.toEpochMilli(),
                at.toEpochMilli());
    }

    private static String left(Store store, String column, String table) {
        return store.read(handle -> String.join(
                " ",
                handle.createQuery("SELECT %s FROM %s ORDER BY 1".formatted(column, table))
                        .mapTo(String.class)
                        .list()));
    }

    @Test
    void oldMessagesGoWithTheirAttemptsAndWhatIsStillToBeSentStays() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            Instant old = WEEK_AGO.minusMillis(1);
            store.write(handle -> webhook(handle, "on", 1) + webhook(handle, "off", 0));
            store.write(handle -> message(handle, "on", "delivered", "DELIVERED", old)
                    + message(handle, "on", "failed", "FAILED", old)
                    + message(handle, "on", "open", "OPEN", old)
                    + message(handle, "on", "young", "DELIVERED", WEEK_AGO)
                    + message(handle, "off", "open", "OPEN", old)
                    + message(handle, "deleted", "young", "OPEN", NOW));
            var found = store.<List<MessageStore.Key>>read(handle -> MessageStore.old(handle, WEEK_AGO, 9));
            assertThat(found.stream().map(key -> key.webhookId() + key.eventId()))
                    .containsExactlyInAnyOrder("ondelivered", "onfailed", "offopen");
            assertThat(store.<List<MessageStore.Key>>read(handle -> MessageStore.old(handle, WEEK_AGO, 2)))
                    .hasSize(2);
            store.write(handle -> MessageStore.delete(handle, found));
            assertThat(store.<List<String>>read(MessageStore::deletedWebhooks)).containsExactly("deleted");
            var orphans = store.<List<MessageStore.Key>>read(handle -> MessageStore.ofWebhook(handle, "deleted", 9));
            store.write(handle -> MessageStore.delete(handle, orphans));
            assertThat(store.<List<String>>read(MessageStore::deletedWebhooks)).isEmpty();
            assertThat(left(store, "webhook_id || event_id", "webhook_message")).isEqualTo("onopen onyoung");
            assertThat(left(store, "id", "webhook_attempt")).isEqualTo("onopen onyoung");
        }
    }

    @Test
    void anOldMessageThatIsOpenedAgainBeforeItIsDeletedStays() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            Instant old = WEEK_AGO.minusMillis(1);
            store.write(handle -> webhook(handle, "on", 1));
            store.write(handle -> message(handle, "on", "failed", "FAILED", old));
            var found = store.<List<MessageStore.Key>>read(handle -> MessageStore.old(handle, WEEK_AGO, 9));
            store.write(handle -> MessageStore.reopenFailed(handle, "on", NOW, 5));
            store.write(handle -> MessageStore.delete(handle, found));
            assertThat(left(store, "event_id || state", "webhook_message")).isEqualTo("failedOPEN");
            assertThat(left(store, "id", "webhook_attempt")).isEqualTo("onfailed");
        }
    }

    @Test
    void ofVeryManyMessagesTheNewestAreKeptAndThoseToBeSent() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            store.write(handle -> webhook(handle, "on", 1));
            store.write(handle -> message(handle, "on", "a", "DELIVERED", NOW)
                    + message(handle, "on", "b", "OPEN", NOW)
                    + message(handle, "on", "c", "FAILED", NOW)
                    + message(handle, "on", "d", "DELIVERED", NOW)
                    + message(handle, "on", "e", "OPEN", NOW));
            assertThat(beyond(store, 2)).containsExactly("a", "c");
            assertThat(beyond(store, 5)).isEmpty();
        }
    }

    private static List<String> beyond(Store store, int kept) {
        return store.<List<MessageStore.Key>>read(handle -> MessageStore.beyond(handle, "on", kept, 9)).stream()
                .map(MessageStore.Key::eventId)
                .toList();
    }

    /// They were let go together, and the receiver hangs: sending them one after the other takes long.
    @Test
    void manyMessagesOfOneSandboxKeepNoOtherOut() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            store.write(handle -> webhook(handle, "on", 1));
            for (int i = 0; i < 6; i++) {
                String event = "e" + i;
                store.write(handle -> message(handle, "on", event, "OPEN", NOW.minusSeconds(7200)));
            }
            store.write(handle -> handle.execute(
                    "UPDATE webhook_message SET hold_until = ?",
                    NOW.minusSeconds(1).toEpochMilli()));
            store.write(handle -> message(handle, "on", "other", "OPEN", NOW));
            store.write(
                    handle -> handle.execute("UPDATE webhook_message SET sandbox_id = 's2' WHERE event_id = 'other'"));
            var due = store.<List<Message>>read(handle -> MessageStore.due(handle, "on", NOW, 4));
            assertThat(due.stream().map(Message::eventId)).containsExactly("e0", "other");
        }
    }

    /// One that was tried lets the next ones go when its hour is over; one that was not tried lets none go.
    @Test
    void oneMessageOfALineIsSentAtATimeAndNoneBeforeWhatHoldsItBack() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            store.write(handle -> webhook(handle, "on", 1));
            for (String event : List.of("tried", "new", "newer")) {
                store.write(handle -> message(handle, "on", event, "OPEN", NOW.minusSeconds(60)));
            }
            assertThat(dueNow(store)).containsExactly("tried");
            store.write(handle -> handle.execute(
                    "UPDATE webhook_message SET next_at = ?, hold_until = ? WHERE event_id = 'tried'",
                    NOW.plusSeconds(600).toEpochMilli(),
                    NOW.plusSeconds(1).toEpochMilli()));
            assertThat(dueNow(store)).isEmpty();
            store.write(handle -> handle.execute(
                    "UPDATE webhook_message SET hold_until = ? WHERE event_id = 'tried'",
                    NOW.minusSeconds(1).toEpochMilli()));
            assertThat(dueNow(store)).containsExactly("new");
        }
    }

    private static List<String> dueNow(Store store) {
        return store.<List<Message>>read(handle -> MessageStore.due(handle, "on", NOW, 9)).stream()
                .map(Message::eventId)
                .toList();
    }

    /// A message whose time is far away would wait as long as the clock was set back.
    @Test
    void aTimeThatIsTooFarAwayIsNotWaitedFor() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            store.write(handle -> webhook(handle, "on", 1));
            store.write(handle -> message(handle, "on", "far", "OPEN", NOW.plus(Duration.ofDays(3))));
            assertThat(store.<List<Message>>read(handle -> MessageStore.due(handle, "on", NOW, 5)))
                    .hasSize(1);
            store.write(handle -> handle.execute(
                    "UPDATE webhook_message SET next_at = ?",
                    NOW.plusSeconds(600).toEpochMilli()));
            assertThat(store.<List<Message>>read(handle -> MessageStore.due(handle, "on", NOW, 5)))
                    .isEmpty();
        }
    }

    /// Between the look for due messages and the attempt, another attempt of the same message may be recorded.
    @Test
    void aMessageThatWasDeliveredMeanwhileIsNotDueAnyMore() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            store.write(handle -> webhook(handle, "on", 1));
            store.write(handle -> message(handle, "on", "e", "OPEN", NOW));
            Message seen = store.<List<Message>>read(handle -> MessageStore.due(handle, "on", NOW, 5))
                    .getFirst();
            assertThat(store.<Optional<Message>>read(handle -> MessageStore.ifDue(handle, seen, NOW)))
                    .contains(seen);
            store.write(handle -> {
                MessageStore.failed(handle, seen, 1, NOW, NOW.plusSeconds(10), NOW.plusSeconds(3600));
                return 0;
            });
            assertThat(store.<Optional<Message>>read(handle -> MessageStore.ifDue(handle, seen, NOW)))
                    .isEmpty();
            assertThat(store.<Optional<Message>>read(handle -> MessageStore.ifDue(handle, seen, NOW.plusSeconds(10))))
                    .hasValueSatisfying(now -> assertThat(now.attempts()).isEqualTo(1));
            store.write(handle -> {
                MessageStore.delivered(handle, seen);
                return 0;
            });
            assertThat(store.<Optional<Message>>read(handle -> MessageStore.ifDue(handle, seen, NOW.plusSeconds(10))))
                    .isEmpty();
        }
    }
}
