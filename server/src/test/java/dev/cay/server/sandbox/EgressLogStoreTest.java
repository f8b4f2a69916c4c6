package dev.cay.server.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class EgressLogStoreTest {
    private static final Instant NOW = Instant.parse("2026-09-21T10:00:00Z");

    @TempDir
    private Path directory = Path.of("unset");

    private static void sandbox(Store store, String team, String id) {
        store.write(handle -> {
            handle.execute(
                    "INSERT INTO team (id, name, slug, created_at) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING",
                    team,
                    team,
                    team);
            return handle.execute("""
                    INSERT INTO sandbox (id, team_id, template_id, build_id, execution_id, state, version, secure,
                        cpu_count, memory_mb, disk_size_mb, metadata, network, started_at, end_at)
                    VALUES (?, ?, 't', 'b', 'e', 'KILLED', 1, 0, 1, 1, 1, '{}', '{}', 0, 0)
                    """, id, team);
        });
    }

    private static void log(Store store, String id, int entries, int second) {
        var one = new EgressEntry(NOW, NOW, "tls", "a.test", "6.6.6.2", 443, true, "domain", 1, 0, 0);
        store.write(handle -> EgressLogStore.put(
                handle,
                new SandboxId(id),
                new EgressSeen(Collections.nCopies(entries, one), 0),
                NOW.plusSeconds(second)));
    }

    private static int left(Store store, String id) {
        return store.read(handle -> EgressLogStore.find(handle, new SandboxId(id)))
                .entries()
                .size();
    }

    private static List<String> teamsWithMore(Store store, int most) {
        return store.read(handle -> EgressLogStore.teamsWithMore(handle, most));
    }

    @Test
    void aTeamLosesItsOwnOldestLogsWhenItHasTooMany() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            for (String id : new String[] {"a1", "a2", "a3"}) {
                sandbox(store, "noisy", id);
            }
            sandbox(store, "calm", "b1");
            log(store, "b1", 9, 0);
            log(store, "a1", 5, 1);
            log(store, "a2", 5, 2);
            log(store, "a3", 5, 3);
            log(store, "a1", 5, 4);
            assertThat(teamsWithMore(store, 10)).containsExactly("noisy");

            int deleted = store.write(handle -> EgressLogStore.trim(handle, "noisy", 10));
            assertThat(deleted).isEqualTo(1);

            assertThat(left(store, "a2")).as("written first").isZero();
            assertThat(left(store, "a1")).isEqualTo(5);
            assertThat(left(store, "a3")).isEqualTo(5);
            assertThat(left(store, "b1")).isEqualTo(9);
            assertThat(teamsWithMore(store, 10)).isEmpty();
        }
    }
}
