package dev.cay.bench;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Fills a store: with records of sandboxes that are long finished, as a platform has after a busy week, or with teams.
final class FilledStore {
    private FilledStore() {}

    /// What a driver is told beside the address.
    private static Properties options(@Nullable String password) {
        var options = new Properties();
        if (password != null) {
            options.setProperty("user", "cay");
            options.setProperty("password", password);
        }
        return options;
    }

    /// @param url      of the driver
    /// @param password null where none is asked for
    static void fill(String url, @Nullable String password, int sandboxes) throws SQLException {
        try (var connection = DriverManager.getConnection(url, options(password));
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            String numbers = numbers(sandboxes);
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

    /// @param keys of each team
    static void fillTeams(String url, @Nullable String password, int teams, int keys) throws SQLException {
        try (var connection = DriverManager.getConnection(url, options(password));
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            long now = System.currentTimeMillis();
            statement.executeUpdate("""
                    INSERT INTO team (id, name, slug, created_at, limits)
                    %s SELECT 'filled-' || i, 'Team ' || i, 'filled-' || i, %d, '{"sandboxes": 20}' FROM n""".formatted(numbers(teams), now));
            statement.executeUpdate("""
                    INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, scope, created_at)
                    %s SELECT 'key-' || i, 'filled-' || (1 + i %% %d), 'Key ' || i, 'hash-' || i, 'ab', 'cdef', 'all', %d
                    FROM n""".formatted(numbers(teams * keys), teams, now));
            connection.commit();
        }
    }

    private static String numbers(int most) {
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)".formatted(most);
    }
}
