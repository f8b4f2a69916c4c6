package dev.cay.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How much of large event data is kept, and for how long.
@Fast
final class EventPartStoreTest {
    private static final Instant NOW = Instant.parse("2026-09-21T10:00:00Z");

    @TempDir
    private Path directory = Path.of("unset");

    private static LifecycleEvent event(String id, String team, String content, Instant at) {
        return new LifecycleEvent(
                id,
                LifecycleEvent.Type.UPDATED,
                new TeamId(team),
                "s",
                new TemplateId("tttttttttttttttttttt"),
                new BuildId("00000000-0000-0000-0000-000000000000"),
                "x",
                Map.of("large", content, "small", "y"),
                at);
    }

    private static List<String> kept(Store store) {
        return store.read(handle -> handle.createQuery("SELECT substr(content, 2, 1) FROM event_part ORDER BY used_at")
                .mapTo(String.class)
                .list());
    }

    private static List<LifecycleEvent> list(Store store, String team) {
        return store.read(handle -> EventStore.list(
                        handle, new EventStore.Query(new TeamId(team), null, List.of(), true, null, 0, 100))
                .events());
    }

    private static void insert(Store store, LifecycleEvent event) {
        store.write(handle -> {
            EventStore.insert(handle, event);
            return event;
        });
    }

    @Test
    void theFieldsThatWereUsedLongestAgoGoFirstAndThoseOfOthersStay() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            for (int i = 0; i < 4; i++) {
                insert(
                        store,
                        event("e" + i, "t", String.valueOf((char) ('a' + i)).repeat(3000), NOW.plusSeconds(i)));
            }
            insert(store, event("other", "u", "z".repeat(3000), NOW.minusSeconds(1)));
            // It was not used for more than an hour, and is then again.
            insert(store, event("again", "t", "a".repeat(3000), NOW.plus(Duration.ofHours(2))));
            store.write(handle -> EventPartStore.limit(handle, "t", 7000));
            assertThat(kept(store)).containsExactly("z", "d", "a");
            var events = list(store, "t");
            assertThat(events.get(1).data())
                    .containsEntry("small", "y")
                    .containsEntry(EventPartStore.MISSING, List.of("large"))
                    .doesNotContainKey("large");
            assertThat(String.valueOf(events.getLast().data().get("large"))).contains("aaaa");
            insert(store, event("e9", "t", "b".repeat(3000), NOW.plus(Duration.ofHours(2))));
            assertThat(list(store, "t").get(1).data()).doesNotContainKey(EventPartStore.MISSING);
        }
    }

    @Test
    void whatATeamStoresIsLimitedWhileItIsWritten() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            for (int i = 0; i < 180; i++) {
                insert(store, event("e" + i, "t", i + "x".repeat(500_000), NOW.plusMillis(i)));
            }
            long held = store.read(handle -> handle.createQuery("SELECT SUM(size) FROM event_part")
                    .mapTo(Long.class)
                    .one());
            // Checked at random, about every megabyte.
            assertThat(held).isBetween(60_000_000L, 80_000_000L);
        }
    }

    @Test
    void oldFieldsStayWhileAMessageThatIsAsOldIsStillToBeSent() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            insert(store, event("e", "t", "a".repeat(3000), NOW));
            store.write(handle -> handle.execute("""
                    INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                        created_at, next_at, parts)
                    VALUES ('w', 'e', 't', 's', '{}', 'OPEN', 0, ?, 0, '[]')
                    """, NOW.toEpochMilli()));
            var later = NOW.plus(Duration.ofDays(9));
            store.write(handle -> EventPartStore.deleteOlder(handle, later, 9));
            assertThat(kept(store)).hasSize(1);
            store.write(handle -> handle.execute("UPDATE webhook_message SET state = 'DELIVERED'"));
            store.write(handle -> EventPartStore.deleteOlder(handle, NOW, 9));
            assertThat(kept(store)).hasSize(1);
            store.write(handle -> EventPartStore.deleteOlder(handle, later, 9));
            assertThat(kept(store)).isEmpty();
        }
    }
}
