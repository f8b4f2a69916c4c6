package dev.cay.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.PostgresEngine;
import dev.cay.testing.NeedsRoot;
import java.util.List;
import org.junit.jupiter.api.Test;

@NeedsRoot
final class PostgresAttemptStoreTest {
    /// Once the database has counted its rows, which it does by itself every minute where many are written.
    @Test
    void statisticsReadAnIndexInItsOrder() throws Exception {
        PostgresEngine.empty();
        try (var store = PostgresEngine.open()) {
            store.write(handle -> handle.execute("""
                    INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers)
                    SELECT 'a' || n, 'w', 'e' || n, n, 5, 'u', '{}' FROM generate_series(1, 50000) n
                    ON CONFLICT (id) DO NOTHING
                    """));
            store.write(handle -> handle.execute("ANALYZE webhook_attempt"));
            List<String> plan = store.read(handle -> handle.createQuery("EXPLAIN " + AttemptStore.BUCKETS)
                    .bind("width", 3_600_000)
                    .bind("webhook", "w")
                    .bind("start", 0)
                    .bind("end", 1_000_000)
                    .bind("most", 100)
                    .map((row, _) -> row.getString(1))
                    .list());
            assertThat(String.join("\n", plan))
                    .containsPattern("Scan Backward using webhook_attempt_(stats|time)")
                    .doesNotContain("Sort Key: webhook_attempt");
        }
    }
}
