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
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(Migrations.PORTABLE.files().stream()
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
        assertThat(query("jdbc:sqlite:" + file(), "SELECT max(CAST(version AS INTEGER)) FROM flyway_schema_history"))
                .isEqualTo(Integer.toString(Migrations.PORTABLE.version()));
    }

    @Test
    void templatesAndSnapshotsOfBeforeBecomeBuilds() throws Exception {
        var before = Migrations.PORTABLE.files().stream()
                .takeWhile(name -> !name.contains("V5__"))
                .toList();
        new SqliteSchema(source(), file(), new Migrations(before)).bringUpToDate();
        execute("INSERT INTO team VALUES ('t1', 'first', 'first', 1)");
        execute("INSERT INTO template VALUES "
                + "('base', 't1', 1, 2, 512, 10240, '[\"top\",\"bottom\"]', 'user', '/srv', 'b1', 1, 2, NULL, 7, 1),"
                + "('later', 't1', 1, 2, 512, 10240, '[]', 'user', NULL, 'b2', 1, 2, NULL, 0, 1),"
                + "('saved', 't1', 0, 1, 256, 1024, '[\"top\"]', 'user', NULL, 'b3', 1, 2, NULL, 0, 2)");
        execute(
                "INSERT INTO snapshot VALUES ('sone', 'saved', 'default', 'b3', 'ibox', 1, 256, 1024, '{\"layers\":[]}', 5),"
                        + "('stwo', 'saved', 'v2', 'b4', 'ibox', 1, 256, 1024, '{\"layers\":[]}', 6)");
        new SqliteSchema(source(), file()).bringUpToDate();
        String url = "jdbc:sqlite:" + file();
        assertThat(query(url, "SELECT origin FROM build WHERE id = 'b1'"))
                .isEqualTo("{\"layers\":[\"top\",\"bottom\"],\"defaultUser\":\"user\",\"defaultWorkdir\":\"/srv\"}");
        assertThat(query(url, "SELECT group_concat(id || ' ' || status, ',') FROM (SELECT * FROM build ORDER BY id)"))
                .isEqualTo("b1 READY,b2 WAITING,b3 READY,b4 READY");
        assertThat(query(url, "SELECT snapshot || sandbox_id FROM build WHERE id = 'b4'"))
                .isEqualTo("stwoibox");
        assertThat(query(
                        url,
                        "SELECT group_concat(tag || build_id, ',') FROM (SELECT * FROM build_tag ORDER BY build_id)"))
                .isEqualTo("defaultb1,defaultb2,defaultb3,v2b4");
        assertThat(query(url, "SELECT spawn_count FROM template WHERE id = 'base'"))
                .isEqualTo("7");
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
