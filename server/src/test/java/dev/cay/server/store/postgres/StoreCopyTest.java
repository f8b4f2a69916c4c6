package dev.cay.server.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.Rows;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreCopy;
import dev.cay.server.store.StoreOwner;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NeedsRoot
final class StoreCopyTest {
    @TempDir
    private static Path directory = Path.of("unset");

    @SuppressWarnings("NullAway.Init")
    private static OwnPostgres server;

    @BeforeAll
    static void startServer() throws Exception {
        server = OwnPostgres.start(directory.resolve("server"));
    }

    @AfterAll
    static void stopServer() throws Exception {
        server.close();
    }

    @BeforeEach
    void empty() throws Exception {
        server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    }

    @TempDir
    private Path files = Path.of("unset");

    @Test
    void allRecordsComeThroughBothWaysAndEventsAreNumberedOn() {
        try (var file = SqliteStore.open(files.resolve("a.db"));
                var database = postgres()) {
            fill(file, 1203);
            long rows = copy(file, database);
            assertThat(rows).isEqualTo(2 + 1203 + 1);
            database.write(handle -> event(handle, "later"));
            assertThat(database.<Long>read(handle -> handle.createQuery("SELECT sequence FROM event WHERE id = 'later'")
                            .mapTo(Long.class)
                            .one()))
                    .isEqualTo(1204);
            try (var back = SqliteStore.open(files.resolve("b.db"))) {
                assertThat(copy(database, back)).isEqualTo(rows + 1);
                assertThat(back.read(StoreCopyTest::strangeName)).isEqualTo(file.read(StoreCopyTest::strangeName));
            }
        }
    }

    @Test
    void aDatabaseInUseIsNotWrittenOver() {
        try (var file = SqliteStore.open(files.resolve("a.db"));
                var database = postgres()) {
            fill(file, 1);
            database.write(handle -> Rows.insert(handle, "somebody"));
            assertThatThrownBy(() -> copy(file, database)).hasMessageContaining("not empty: table 'team' has 1 rows");
            assertThat(database.read(Rows::count)).isEqualTo(1);
        }
    }

    @Test
    void aCopyThatWasCutOffIsUsedByNobodyAndMadeAnew() {
        try (var file = SqliteStore.open(files.resolve("a.db"));
                var database = postgres()) {
            fill(file, 700);
            var cut = new StoreCopy(file, database, (table, rows) -> {
                if (table.equals("event")) {
                    throw new IllegalStateException("cut off");
                }
            });
            assertThatThrownBy(cut::run).hasMessage("cut off");
            assertThatThrownBy(() -> StoreOwner.require(database, "me", Instant.EPOCH))
                    .hasMessageContaining("unfinished copy");
            assertThat(copy(file, database)).isEqualTo(2 + 700 + 1);
            StoreOwner.require(database, "me", Instant.EPOCH);
        }
    }

    /// As in a restore that is interrupted between the copy and the moves of its files.
    @Test
    void aCopyThatWasNotEndedIsUsedByNobodyAndMadeAgain() {
        try (var file = SqliteStore.open(files.resolve("a.db"));
                var database = postgres()) {
            fill(file, 7);
            StoreCopy.requireFree(database);
            for (int attempt = 0; attempt < 2; attempt++) {
                new StoreCopy(file, database, (_, _) -> {}).copy();
                assertThatThrownBy(() -> StoreOwner.require(database, "me", Instant.EPOCH))
                        .hasMessageContaining("unfinished copy");
                StoreCopy.requireFree(database);
            }
            StoreCopy.end(database);
            StoreCopy.end(database);
            StoreOwner.require(database, "me", Instant.EPOCH);
            assertThatThrownBy(() -> StoreCopy.requireFree(database)).hasMessageContaining("not empty: table 'team'");
        }
    }

    @Test
    void aDatabaseOfAnotherCayIsRefusedUntilItIsClaimed() {
        try (var database = postgres()) {
            StoreOwner.require(database, "me", Instant.EPOCH);
            StoreOwner.require(database, "me", Instant.EPOCH);
            assertThatThrownBy(() -> StoreOwner.require(database, "you", Instant.EPOCH))
                    .hasMessageContaining("belongs to another Cay")
                    .hasMessageContaining("cay store claim");
            StoreOwner.claim(database, "you", Instant.EPOCH);
            StoreOwner.require(database, "you", Instant.EPOCH);
        }
    }

    @Test
    void everyTableIsCopied() {
        try (var file = SqliteStore.open(files.resolve("a.db"));
                var database = postgres()) {
            List<String> inFile =
                    file.read(handle -> handle.createQuery("SELECT name FROM sqlite_master WHERE type = 'table'")
                            .mapTo(String.class)
                            .list());
            List<String> inDatabase = database.read(handle -> handle.createQuery(
                            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
                    .mapTo(String.class)
                    .list());
            assertThat(withoutHistory(inFile)).containsExactlyInAnyOrderElementsOf(StoreCopy.tables());
            assertThat(withoutHistory(inDatabase)).containsExactlyInAnyOrderElementsOf(StoreCopy.tables());
        }
    }

    private static List<String> withoutHistory(List<String> tables) {
        return tables.stream()
                .filter(table -> !table.equals("flyway_schema_history"))
                .toList();
    }

    private static long copy(Store from, Store to) {
        return new StoreCopy(from, to, (_, _) -> {}).run();
    }

    private static Store postgres() {
        return PostgresStore.open(PostgresAddress.parse(server.url()), server.password(), 4);
    }

    private static void fill(Store store, int events) {
        store.write(handle -> {
            Rows.insert(handle, "t1");
            Rows.insert(handle, "ü \"'\\ \n☃");
            handle.execute("INSERT INTO store_owner (id, fingerprint, claimed_at) VALUES (1, 'me', 0)");
            for (int i = 0; i < events; i++) {
                event(handle, "e" + i);
            }
            return events;
        });
    }

    private static int event(Handle handle, String id) {
        return handle.execute(
                "INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data,"
                        + " happened_at) VALUES (?, 'CREATED', 't1', 's', 't', 'b', 'x', '{}', 5000000000)",
                id);
    }

    private static String strangeName(Handle handle) {
        return handle.createQuery("SELECT name FROM team WHERE id <> 't1'")
                .mapTo(String.class)
                .one();
    }
}
