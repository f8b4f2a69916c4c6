package dev.cay.server.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.KilledAtAStep;
import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.TeamId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A rotation of the sealing key that ends at any step loses no value.
@Fast
final class RotationTest {
    private static final int SECRETS = 7;
    private static final Team TEAM = new Team(new TeamId("t"), "team", "team");

    @TempDir
    private Path directory = Path.of("unset");

    private Store store;

    @BeforeEach
    void open() {
        store = TestStore.open(directory.resolve("cay.db"));
        store.write(handle ->
                handle.execute("INSERT INTO team (id, name, slug, created_at) VALUES ('t', 'team', 'team', 0)"));
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Path file() {
        return directory.resolve("secrets.keys");
    }

    private Secrets secrets(Store on) {
        return new Secrets(on, file(), InstantSource.system(), new SecureRandom());
    }

    private void fill(Secrets secrets) {
        for (int i = 0; i < SECRETS; i++) {
            secrets.create(TEAM, "key" + i, new SecretRequest("value" + i, Map.of()));
        }
    }

    private void assertWhole(Secrets secrets) {
        for (int i = 0; i < SECRETS; i++) {
            assertThat(secrets.value(TEAM.id(), "key" + i).orElseThrow().text()).isEqualTo("value" + i);
        }
    }

    /// Ends as a process does that is killed before a write.
    private record Dying(Store store, int[] writesLeft) implements Store {
        @Override
        public <T> T write(Transaction<T> work) {
            if (writesLeft[0]-- == 0) {
                throw new IllegalStateException("killed");
            }
            return store.write(work);
        }

        @Override
        public <T> T read(Transaction<T> work) {
            return store.read(work);
        }

        @Override
        public StoreView view() {
            return store.view();
        }

        @Override
        public boolean isShared() {
            return store.isShared();
        }

        @Override
        public void close() {}
    }

    @Test
    void afterAnEndAtAnyStepAllValuesOpenAndTheNextStartCompletesIt() throws Exception {
        fill(secrets(store));
        for (int writes = 0; writes < SECRETS; writes++) {
            var dying = secrets(new Dying(store, new int[] {writes}));
            assertThatThrownBy(dying::rotate).hasMessage("killed");
            var next = secrets(store);
            assertWhole(next);
            next.start();
            assertWhole(next);
            String newest = newest();
            var others = store.read(handle -> SecretStore.sealedWithOther(handle, newest, "", 100));
            assertThat(others).isEmpty();
        }
    }

    private String newest() throws Exception {
        String text = Files.readString(file());
        return text.replaceAll("(?s).*\"name\":\"([0-9a-f]+)\".*?", "$1").substring(0, 12);
    }

    /// Replaces the key for the third time, so that one is forgotten.
    static final class Rotating {
        private Rotating() {}

        public static void main(String[] arguments) {
            var directory = Path.of(arguments[1]);
            try (var store = SqliteStore.open(directory.resolve("cay.db"))) {
                var secrets = new Secrets(
                        store, directory.resolve("secrets.keys"), InstantSource.system(), new SecureRandom());
                KilledAtAStep.listen(arguments[0]);
                secrets.rotate();
            }
        }
    }

    @Test
    void aKillAtAnyStepLosesNothing() throws Exception {
        var first = secrets(store);
        first.create(TEAM, "one", new SecretRequest("value1", Map.of()));
        first.create(TEAM, "two", new SecretRequest("value2", Map.of()));
        first.rotate();
        int steps = 0;
        boolean killed = true;
        while (killed) {
            store.close();
            killed = KilledAtAStep.run(Rotating.class, steps + 1, directory);
            steps += killed ? 1 : 0;
            store = SqliteStore.open(directory.resolve("cay.db"));
            for (boolean completed : new boolean[] {false, true}) {
                var next = secrets(store);
                if (completed) {
                    next.start();
                }
                assertThat(next.value(TEAM.id(), "one").orElseThrow().text())
                        .as("after step %d", steps)
                        .isEqualTo("value1");
                assertThat(next.value(TEAM.id(), "two").orElseThrow().text()).isEqualTo("value2");
            }
        }
        assertThat(steps).as("three of each file, and two values").isEqualTo(8);
    }

    /// A backup has the records of one moment and the file of a later one.
    @Test
    void recordsOfBeforeARotationOpenWithTheFileOfAfterIt() throws Exception {
        fill(secrets(store));
        secrets(store).rotate();
        try (var copy = SqliteStore.open(copied())) {
            secrets(store).rotate();
            assertWhole(secrets(copy));
        }
        assertThat(Files.readString(file()).split("\"name\"", -1))
                .as("keys that no record needs are gone")
                .hasSize(3);
    }

    private Path copied() {
        Path copy = directory.resolve("copy.db");
        store.write(handle -> handle.execute("SELECT 1"));
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("cay.db"));
                var statement = connection.createStatement()) {
            statement.execute("VACUUM INTO '" + copy + "'");
            return copy;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aSealedValueInTheRowOfAnotherSecretDoesNotOpen() {
        fill(secrets(store));
        store.write(handle -> handle.execute("""
                UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'key1') WHERE name = 'key0'
                """));
        assertThatThrownBy(() -> secrets(store).value(TEAM.id(), "key0"))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("cannot be opened");
    }

    @Test
    void withoutItsKeyAValueDoesNotOpenAndTheErrorSaysWhatToDo() throws Exception {
        fill(secrets(store));
        Files.delete(file());
        assertThatThrownBy(() -> secrets(store).value(TEAM.id(), "key0"))
                .hasMessageContaining("set it again, or restore the keys from a backup");
    }
}
