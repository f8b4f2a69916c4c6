package dev.cay.server.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/// A small pool of connections. Each waits for nothing for ever, and commits to the disk even where the server's own
/// setting is not to.
final class Connections implements AutoCloseable {
    /// How long a caller waits for a connection while all are in use, or the server is not reachable.
    static final Duration PATIENCE = Duration.ofSeconds(3);

    /// How long a start waits for the first connection: a busy machine takes longer for it than {@link #PATIENCE}.
    private static final Duration FIRST = Duration.ofSeconds(20);

    private static final String LIMITS = """
            SELECT set_config('statement_timeout', '20s', false),
                   set_config('lock_timeout', '10s', false),
                   set_config('idle_in_transaction_session_timeout', '30s', false),
                   set_config('synchronous_commit',
                       CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                       ELSE current_setting('synchronous_commit') END, false)""";

    private final HikariDataSource pool;

    /// @param password null where the server asks for none
    Connections(PostgresAddress address, @Nullable String password, int most) {
        var config = new HikariConfig();
        config.setPoolName("store");
        config.setJdbcUrl(address.jdbc());
        config.setUsername(address.user());
        config.setPassword(password);
        config.setMaximumPoolSize(most);
        config.setMinimumIdle(Math.min(2, most));
        config.setConnectionTimeout(PATIENCE.toMillis());
        config.setValidationTimeout(1000);
        config.setMaxLifetime(Duration.ofMinutes(20).toMillis());
        config.setKeepaliveTime(Duration.ofMinutes(1).toMillis());
        // The server may be down when Cay starts; the first caller gets the error.
        config.setInitializationFailTimeout(-1);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        config.setConnectionInitSql(LIMITS);
        config.addDataSourceProperty("ApplicationName", "cay");
        config.addDataSourceProperty("connectTimeout", "3");
        config.addDataSourceProperty("socketTimeout", "25");
        config.addDataSourceProperty("cancelSignalTimeout", "3");
        config.addDataSourceProperty("tcpKeepAlive", "true");
        pool = new HikariDataSource(config);
    }

    Connection take() throws SQLException {
        return pool.getConnection();
    }

    /// Waits for a server that is slow to answer. One that refuses connections, or the password, is not waited for.
    void awaitFirst() throws SQLException {
        long end = System.nanoTime() + FIRST.toNanos();
        while (true) {
            try (var _ = pool.getConnection()) {
                return;
            } catch (SQLTransientConnectionException e) {
                if (isRefused(e) || System.nanoTime() > end) {
                    throw e;
                }
            }
        }
    }

    private static boolean isRefused(SQLException failure) {
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return false;
            }
        }
        return failure.getCause() != null;
    }

    /// Closes a connection that failed, so that it is not used again.
    void discard(Connection connection) {
        pool.evictConnection(connection);
    }

    DataSource source() {
        return pool;
    }

    @Override
    public void close() {
        pool.close();
    }
}
