package dev.cay.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class AttemptStoreTest {
    @TempDir
    private Path directory = Path.of("unset");

    /// Neither the rows themselves are read, nor more of the index than the limit says, as a sort would.
    @Test
    void statisticsReadAnIndexInItsOrder() {
        try (var store = SqliteStore.open(directory.resolve("a.db"))) {
            List<String> plan = store.read(handle -> handle.createQuery("EXPLAIN QUERY PLAN " + AttemptStore.BUCKETS)
                    .bind("width", 3_600_000)
                    .bind("webhook", "w")
                    .bind("start", 0)
                    .bind("end", 1)
                    .bind("most", 1)
                    .map((row, _) -> row.getString("detail"))
                    .list());
            assertThat(plan)
                    .contains(
                            "SEARCH webhook_attempt USING COVERING INDEX webhook_attempt_stats (webhook_id=? AND started_at>? AND started_at<?)")
                    .noneMatch(step -> step.contains("FOR ORDER BY"));
        }
    }
}
