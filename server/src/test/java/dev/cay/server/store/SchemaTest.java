package dev.cay.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

final class SchemaTest {
    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void knowsEveryMigrationThereIs() throws Exception {
        var place = Schema.class.getResource("migrations/" + Schema.MIGRATIONS.getFirst());
        assertThat(place).isNotNull();
        try (var files = Files.list(Path.of(place.toURI()).getParent())) {
            assertThat(files.map(file -> file.getFileName().toString()).sorted())
                    .containsExactlyElementsOf(Schema.MIGRATIONS);
        }
    }

    @Test
    void asksFlywayOnceAndAgainWhenTheFileIsOfAnotherVersion() throws Exception {
        var schema = new Schema(source(), file());
        assertThat(schema.bringUpToDate()).isTrue();
        assertThat(schema.bringUpToDate()).isFalse();
        execute("PRAGMA user_version = 12345");
        assertThat(schema.bringUpToDate()).isTrue();
        assertThat(schema.bringUpToDate()).isFalse();
    }

    @Test
    void aNewFileHasItsTables() throws Exception {
        new Schema(source(), file()).bringUpToDate();
        execute("SELECT count(*) FROM flyway_schema_history WHERE success = 1");
        execute("SELECT count(*) FROM team");
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
