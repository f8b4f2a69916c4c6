package dev.cay.server.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.server.store.Migrations;
import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

@Fast
final class SqliteSchemaTest {
    /// What the first Cay had.
    private static final Migrations FIRST =
            new Migrations(Migrations.PORTABLE.files().subList(0, 1));

    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void knowsEveryMigrationThereIs() throws Exception {
        var place = Migrations.class
                .getClassLoader()
                .getResource(Migrations.PORTABLE.files().getFirst());
        assertThat(place).isNotNull();
        try (var files = Files.list(Path.of(place.toURI()).getParent())) {
            assertThat(files.map(file -> file.getFileName().toString()).sorted())
                    .containsExactlyElementsOf(Migrations.PORTABLE.files().stream()
                            .map(name -> name.substring(name.lastIndexOf('/') + 1))
                            .toList());
        }
    }

    @Test
    void asksFlywayOnceAndAgainWhenTheFileIsOfAnotherVersion() throws Exception {
        var schema = new SqliteSchema(source(), file());
        assertThat(schema.bringUpToDate()).isTrue();
        assertThat(schema.bringUpToDate()).isFalse();
        execute("PRAGMA user_version = 12345");
        assertThat(schema.bringUpToDate()).isTrue();
        assertThat(schema.bringUpToDate()).isFalse();
    }

    @Test
    void aNewFileHasItsTables() throws Exception {
        new SqliteSchema(source(), file()).bringUpToDate();
        execute("SELECT count(*) FROM flyway_schema_history WHERE success = 1");
        execute("SELECT count(*) FROM team");
    }

    @Test
    void copiesTheFileBeforeItsTablesChange() throws Exception {
        earlier().bringUpToDate();
        execute("INSERT INTO team VALUES ('t1', 'first', 'first', 1)");
        later(2).bringUpToDate();
        execute("SELECT later_2 FROM team");

        var copy = directory.resolve("a.db.before-v102");
        assertThat(Files.getPosixFilePermissions(copy)).hasSize(2);
        assertThat(query("jdbc:sqlite:" + copy, "SELECT name FROM team")).isEqualTo("first");
        assertThat(query("jdbc:sqlite:" + copy, "PRAGMA integrity_check")).isEqualTo("ok");
        // The Cay of before takes the copy for its own.
        var old = new SQLiteDataSource();
        old.setUrl("jdbc:sqlite:" + copy);
        assertThat(new SqliteSchema(old, copy, FIRST).bringUpToDate()).isFalse();
    }

    @Test
    void aFileOfTheFirstCayGetsTheTablesOfThisOne() throws Exception {
        earlier().bringUpToDate();
        new SqliteSchema(source(), file()).bringUpToDate();
        assertThat(query("jdbc:sqlite:" + file(), "SELECT max(version) FROM flyway_schema_history"))
                .isEqualTo(Integer.toString(Migrations.PORTABLE.version()));
    }

    @Test
    void keepsOnlyTheLastCopies() throws Exception {
        earlier().bringUpToDate();
        for (int version = 2; version <= 6; version++) {
            later(version).bringUpToDate();
        }
        try (var files = Files.list(directory)) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> name.contains("before"))
                            .sorted())
                    .containsExactly("a.db.before-v104", "a.db.before-v105", "a.db.before-v106");
        }
    }

    @Test
    void refusesAFileOfANewerCayAndNamesTheCopy() throws Exception {
        earlier().bringUpToDate();
        later(3).bringUpToDate();
        byte[] before = Files.readAllBytes(file());
        assertThatThrownBy(() -> earlier().bringUpToDate())
                .hasMessageContaining("newer Cay (its tables have version 103, this Cay knows up to 1)")
                .as("that of an upgrade which skipped a version")
                .hasMessageContaining(
                        "go back to the day of the upgrade with " + directory.resolve("a.db.before-v103"));
        Files.delete(directory.resolve("a.db.before-v103"));
        assertThatThrownBy(() -> earlier().bringUpToDate())
                .hasMessageContaining("there is no copy " + directory.resolve("a.db.before-v2"));
        assertThat(Files.readAllBytes(file())).isEqualTo(before);
    }

    private SqliteSchema earlier() {
        return new SqliteSchema(source(), file(), FIRST);
    }

    /// Numbers that this Cay will not have for long.
    private SqliteSchema later(int version) {
        var names = new ArrayList<>(FIRST.files());
        for (int each = 2; each <= version; each++) {
            names.add("dev/cay/server/store/later/V%d__later.sql".formatted(100 + each));
        }
        return new SqliteSchema(source(), file(), new Migrations(names));
    }

    private String query(String url, String sql) throws Exception {
        var source = new SQLiteDataSource();
        source.setUrl(url);
        try (var connection = source.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            return rows.getString(1);
        }
    }

    private void execute(String sql) throws Exception {
        try (var connection = source().getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private SQLiteDataSource source() {
        var source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + file());
        return source;
    }

    private Path file() {
        return directory.resolve("a.db");
    }
}
