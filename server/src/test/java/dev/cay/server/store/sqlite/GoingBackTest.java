package dev.cay.server.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Migrations;
import dev.cay.server.store.OlderState;
import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

/// A newer Cay starts on the state of an older one, and the older one on what the newer made of it. So migrations only
/// add: a table, or a column that those who do not know it may leave out.
@Fast
final class GoingBackTest {
    /// Rows as the Cay with tables of version 9 wrote them.
    private static final List<String> ROWS = List.of(
            "INSERT INTO team (id, name, slug, created_at) VALUES ('t%1$s', 'team%1$s', 'slug%1$s', 1)",
            "INSERT INTO template (id, team_id, public, created_at, updated_at, spawn_count, build_count) VALUES ('p%1$s', 't%1$s', 1, 1, 1, 0, 1)",
            "INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, created_at, scope) VALUES ('k%1$s', 't%1$s', 'n', 'h%1$s', 'a', 'b', 1, 'all')",
            "INSERT INTO build (id, template_id, status, cpu_count, memory_mb, disk_size_mb, origin, wanted_tags, created_at, updated_at) VALUES ('b%1$s', 'p%1$s', 'READY', 1, 512, 1024, '{\"layers\":[\"a\"],\"defaultUser\":\"user\",\"later\":1}', '[\"v1\"]', 1, 1)",
            "INSERT INTO webhook (id, team_id, name, url, events, secret, enabled, created_at) VALUES ('w%1$s', 't%1$s', 'w', 'https://x', '[\"sandbox.lifecycle.created\"]', 's', 1, 1)");

    @TempDir
    private Path directory = Path.of("unset");

    private record Column(String type, boolean required, boolean hasDefault, int key) {}

    @Test
    void migrationsOnlyAdd() throws Exception {
        var before = schema(upTo(9)).tables();
        var after = schema(newer()).tables();
        before.forEach((table, columns) -> {
            var now = after.get(table);
            assertThat(now).as("table %s", table).isNotNull().containsAllEntriesOf(columns);
            now.forEach((name, column) -> {
                if (!columns.containsKey(name)) {
                    assertThat(!column.required() || column.hasDefault())
                            .as("column %s.%s can be left out", table, name)
                            .isTrue();
                }
            });
        });
    }

    @Test
    void theOlderCayGoesOnWithWhatTheNewerOneMade() throws Exception {
        var database = schema(upTo(9));
        database.write("1");
        assertThat(database.bring(newer())).isTrue();
        database.write("2");

        assertThat(database.bring(upTo(9)))
                .as("the older one does not refuse, and changes nothing")
                .isFalse();
        database.write("3");
        assertThat(database.rows("team")).isEqualTo(3);

        assertThat(database.bring(newer())).as("and the newer one again").isFalse();
        assertThat(database.rows("build")).isEqualTo(3);
    }

    /// From what such an older one really wrote.
    @Test
    void theOlderCayUnderstandsItsOwnStateAfterTheNewerOne() throws Exception {
        var database = new Database(directory.resolve("older.db"));
        OlderState.writeSqlite(database.file());
        assertThat(database.bring(newer())).isTrue();
        assertThat(database.bring(upTo(OlderState.VERSION)))
                .as("the older one does not refuse, and changes nothing")
                .isFalse();
        try (var connection = OlderState.sqlite(database.file())) {
            assertThat(OlderState.prepareAll(connection)).isGreaterThan(130);
        }
        assertThat(database.rows("team")).isEqualTo(2);
        assertThat(database.bring(newer())).as("and the newer one again").isFalse();
    }

    /// This Cay's migrations, and one that follows.
    private static Migrations newer() {
        var names = new ArrayList<>(Migrations.PORTABLE.files());
        names.add("dev/cay/server/store/later/V102__later.sql");
        return new Migrations(names);
    }

    private static Migrations upTo(int version) {
        return new Migrations(Migrations.PORTABLE.files().stream()
                .filter(name -> new Migrations(List.of(name)).version() <= version)
                .toList());
    }

    private Database schema(Migrations migrations) throws Exception {
        Path file = directory.resolve("v%d.db".formatted(migrations.version()));
        var database = new Database(file);
        database.bring(migrations);
        return database;
    }

    private record Database(Path file) {
        private SQLiteDataSource source() {
            var source = new SQLiteDataSource();
            source.setUrl("jdbc:sqlite:" + file);
            return source;
        }

        private boolean bring(Migrations migrations) throws Exception {
            return new SqliteSchema(source(), file, migrations).bringUpToDate();
        }

        private void write(String number) throws SQLException {
            try (var connection = source().getConnection();
                    var statement = connection.createStatement()) {
                for (String row : ROWS) {
                    statement.execute(row.formatted(number));
                }
            }
        }

        private int rows(String table) throws SQLException {
            try (var connection = source().getConnection();
                    var statement = connection.createStatement();
                    var rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
                return rows.getInt(1);
            }
        }

        private Map<String, Map<String, Column>> tables() throws SQLException {
            var tables = new LinkedHashMap<String, Map<String, Column>>();
            try (var connection = source().getConnection();
                    var statement = connection.createStatement()) {
                var names = new ArrayList<String>();
                try (var rows = statement.executeQuery("SELECT name FROM sqlite_master WHERE type = 'table'")) {
                    while (rows.next()) {
                        names.add(rows.getString(1));
                    }
                }
                for (String name : names) {
                    var columns = new LinkedHashMap<String, Column>();
                    try (var rows = statement.executeQuery("PRAGMA table_info(%s)".formatted(name))) {
                        while (rows.next()) {
                            columns.put(
                                    rows.getString("name"),
                                    new Column(
                                            rows.getString("type"),
                                            rows.getBoolean("notnull"),
                                            rows.getString("dflt_value") != null,
                                            rows.getInt("pk")));
                        }
                    }
                    tables.put(name, columns);
                }
            }
            return tables;
        }
    }
}
