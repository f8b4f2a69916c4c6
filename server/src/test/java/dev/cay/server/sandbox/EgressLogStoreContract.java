package dev.cay.server.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the table of egress logs does on both engines. Names in it are what sandboxes sent.
abstract class EgressLogStoreContract {
    private static final Instant NOW = Instant.parse("2026-09-21T10:00:00Z");

    @TempDir
    Path directory = Path.of("unset");

    /// A store with empty tables.
    abstract Store open() throws Exception;

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
        return find(store, id).entries().size();
    }

    private static EgressSeen find(Store store, String id) {
        return store.read(handle -> EgressLogStore.find(handle, new SandboxId(id)));
    }

    private static List<String> teamsWithMore(Store store, int most) {
        return store.read(handle -> EgressLogStore.teamsWithMore(handle, most));
    }

    @Test
    void aTeamLosesItsOwnOldestLogsWhenItHasTooMany() throws Exception {
        try (var store = open()) {
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

    @Test
    void aLogIsReplacedAndReadBackAsItWas() throws Exception {
        try (var store = open()) {
            sandbox(store, "team", "a1");
            assertThat(find(store, "a1")).isEqualTo(EgressSeen.NOTHING);
            var names = List.of("a.test", "nul\u0000nul", "'; DROP TABLE egress_log; --", "\"\\", "ü\uD83D\uDE00");
            var seen = new EgressSeen(
                    names.stream()
                            .map(name -> new EgressEntry(
                                    NOW,
                                    NOW.plusMillis(1),
                                    "tls",
                                    name,
                                    null,
                                    65_535,
                                    false,
                                    "none",
                                    3,
                                    5,
                                    Long.MAX_VALUE))
                            .toList(),
                    7);
            log(store, "a1", 2, 0);
            store.write(handle -> EgressLogStore.put(handle, new SandboxId("a1"), seen, NOW));
            assertThat(find(store, "a1")).isEqualTo(seen);
        }
    }

    @Test
    void oldLogsAreDeletedAFewAtATime() throws Exception {
        try (var store = open()) {
            for (int i = 0; i < 5; i++) {
                sandbox(store, "team", "a" + i);
                log(store, "a" + i, 1, i);
            }
            // Its sandbox is not known any more.
            log(store, "gone", 1, 0);
            assertThat(teamsWithMore(store, 4)).containsExactly("team");
            assertThat(deleteOlder(store, 4, 2)).isEqualTo(2);
            assertThat(deleteOlder(store, 4, 100)).isEqualTo(3);
            assertThat(left(store, "a4")).isEqualTo(1);
            assertThat(left(store, "a3")).isZero();
            assertThat(left(store, "gone")).isZero();
        }
    }

    private static int deleteOlder(Store store, int second, int most) {
        return store.write(handle -> EgressLogStore.deleteOlder(handle, NOW.plusSeconds(second), most));
    }
}
