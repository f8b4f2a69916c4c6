package dev.cay.server.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sqlite.SQLiteDataSource;

/// What a Cay with tables of version {@link #VERSION} wrote; `older/README.md` beside the data says how.
public enum OlderState {
    SQLITE("sqlite"),
    POSTGRES("postgres");

    /// Of the tables.
    public static final int VERSION = 18;

    private static final String PLACE = "dev/cay/server/older/";
    private static final List<String> FILES = List.of("secret", "secrets.keys", "identity.key", "admin.token");

    private final String directory;

    OlderState(String directory) {
        this.directory = PLACE + "%s/".formatted(directory);
    }

    /// Keys and ids of what is in it, by name.
    public Map<String, String> facts() throws IOException {
        var facts = new HashMap<String, String>();
        for (String line : text(directory + "facts").lines().toList()) {
            var parts = line.split("=", 2);
            facts.put(parts[0], parts[1]);
        }
        return facts;
    }

    /// Writes the files of its state directory.
    public void writeFiles(Path to) throws IOException {
        for (String name : FILES) {
            Files.write(to.resolve(name), bytes(directory + name));
        }
    }

    /// SQL that makes its tables with all rows.
    public String script() throws IOException {
        return text(directory + "store.sql");
    }

    /// Makes its database file.
    public static void writeSqlite(Path file) throws IOException, SQLException {
        try (var connection = sqlite(file);
                var statement = connection.createStatement()) {
            statement.executeUpdate(SQLITE.script());
        }
    }

    public static Connection sqlite(Path file) throws SQLException {
        var source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + file);
        return source.getConnection();
    }

    /// Has the database understand each statement that this Cay sends: a table or column that it needs and that is gone
    /// fails.
    ///
    /// @return how many
    public static int prepareAll(Connection connection) throws IOException, SQLException {
        var statements = Arrays.stream(text(PLACE + "statements").split("\n"))
                .filter(line -> !line.isBlank())
                .toList();
        for (String sql : statements) {
            try (var prepared = connection.prepareStatement(sql)) {
                prepared.getParameterMetaData().getParameterCount();
                prepared.getMetaData();
            } catch (SQLException e) {
                throw new SQLException(sql + ": " + e.getMessage(), e);
            }
        }
        return statements.size();
    }

    private static String text(String name) throws IOException {
        return new String(bytes(name), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String name) throws IOException {
        try (var stream = OlderState.class.getClassLoader().getResourceAsStream(name)) {
            if (stream == null) {
                throw new FileNotFoundException(name);
            }
            return stream.readAllBytes();
        }
    }
}
