package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A whole Cay whose records are in PostgreSQL. That clients cannot tell is shown by {@link ClientsTest}.
@NeedsRoot
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class PostgresPlatformTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    private Path directory = Path.of("unset");

    /// What a daemon needs to be told.
    static Map<String, String> settings(OwnPostgres database) {
        return Map.of(
                "store.url",
                database.url(),
                "store.passwordFile",
                database.passwordFile().toString());
    }

    @Test
    void whileTheDatabaseIsAwayWritesAreRefusedSandboxesGoOnAndEndsAreCaughtUp() throws Exception {
        try (var database = OwnPostgres.start(directory.resolve("database"));
                var cay = OwnCay.start(settings(database));
                var kept = RemoteSandbox.create(cay.url(), cay.key());
                var ends = RemoteSandbox.create(cay.url(), cay.key(), Duration.ofSeconds(10))) {
            database.kill();
            var refused = call(cay, "POST", "/sandboxes", "{\"templateID\":\"base\"}");
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(refused.body()).contains("the database cannot be reached");
            assertThat(kept.run(List.of("echo", "still here"))).isEqualTo("still here\n");
            assertThat(call(cay, "GET", "/v2/sandboxes", "").body()).contains(kept.id());
            Thread.sleep(Duration.ofSeconds(11));
            database.start();
            awaitGone(cay, ends.id());
            try (var fresh = RemoteSandbox.create(cay.url(), cay.key())) {
                assertThat(fresh.run(List.of("echo", "new"))).isEqualTo("new\n");
            }
            cay.crash();
            cay.startAgain();
            assertThat(kept.run(List.of("echo", "still here"))).isEqualTo("still here\n");
        }
    }

    @Test
    void recordsMoveToADatabaseAndBackWhileSandboxesRun() throws Exception {
        try (var database = OwnPostgres.start(directory.resolve("database"));
                var cay = OwnCay.start(Map.of());
                var sandbox = RemoteSandbox.create(cay.url(), cay.key())) {
            assertThat(run(cay, "store", "migrate", "--to", database.url())).contains("Cay is running");
            run(cay, "down");
            String moved = run(
                    cay,
                    "store",
                    "migrate",
                    "--to",
                    database.url(),
                    "--password-file",
                    database.passwordFile().toString());
            assertThat(moved).contains("copied and compared", "now set store.url");
            configure(
                    cay, "store:\n  url: %s\n  passwordFile: %s\n".formatted(database.url(), database.passwordFile()));
            cay.startAgain();
            assertThat(sandbox.run(List.of("echo", "moved"))).isEqualTo("moved\n");
            assertThat(database.query("SELECT state FROM sandbox WHERE id = '%s'".formatted(sandbox.id())))
                    .isEqualTo("RUNNING");
            assertThat(run(cay, "doctor")).contains("PostgreSQL").doesNotContain(database.password());

            run(cay, "down");
            assertThat(run(cay, "store", "migrate", "--to", "sqlite")).contains("now remove store.url");
            configure(cay, "");
            cay.startAgain();
            assertThat(sandbox.run(List.of("echo", "back"))).isEqualTo("back\n");
        }
    }

    private static void configure(OwnCay cay, String section) throws IOException {
        Path file = cay.directory().resolve("cay.yaml");
        String text = Files.readString(file).replaceAll("(?s)store:.*", "");
        Files.writeString(file, text + section, StandardOpenOption.TRUNCATE_EXISTING);
    }

    private static String run(OwnCay cay, String... words) throws Exception {
        var process = cay.cay(words).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return output;
    }

    private void awaitGone(OwnCay cay, String id) {
        Await.until(
                "the sandbox that expired while the database was away is ended",
                () -> call(cay, "GET", "/sandboxes/" + id, "").statusCode() == 404);
    }

    private HttpResponse<String> call(OwnCay cay, String method, String path, String body) throws Exception {
        return http.send(
                HttpRequest.newBuilder(cay.url().resolve(path))
                        .timeout(PATIENCE)
                        .header("X-API-Key", cay.key())
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }
}
