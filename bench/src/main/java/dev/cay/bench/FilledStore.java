package dev.cay.bench;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Fills a store with records of sandboxes that are long finished, as a platform has after a busy week.
final class FilledStore {
    private FilledStore() {}

    /// @param url      of the driver
    /// @param password null where none is asked for
    static void fill(String url, @Nullable String password, int sandboxes) throws SQLException {
        var options = new Properties();
        if (password != null) {
            options.setProperty("user", "cay");
            options.setProperty("password", password);
        }
        try (var connection = DriverManager.getConnection(url, options);
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            String numbers =
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)".formatted(sandboxes);
            long now = System.currentTimeMillis();
            statement.executeUpdate("""
                    INSERT INTO sandbox (id, team_id, template_id, build_id, execution_id, state, version, secure,
                        cpu_count, memory_mb, disk_size_mb, metadata, network, lifecycle, started_at, end_at, killed_at)
                    %s SELECT 'filled' || i, (SELECT min(id) FROM team), 't', 'b', 'x' || i, 'KILLED', 4, 1,
                        2, 512, 1024, '{}', '{}', '{}', %d, %d, %d FROM n""".formatted(numbers, now, now, now));
            statement.executeUpdate("""
                    INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data,
                        happened_at)
                    %s SELECT 'filled' || i, 'KILLED', (SELECT min(id) FROM team), 'filled' || i, 't', 'b', 'x' || i,
                        '{"kill_reason":"request"}', %d FROM n""".formatted(numbers, now));
            connection.commit();
        }
    }
}
