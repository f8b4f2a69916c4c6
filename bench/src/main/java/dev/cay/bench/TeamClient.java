package dev.cay.bench;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A client with a key of a team of its own.
final class TeamClient {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI url;
    private String key = "";

    private TeamClient(URI url) {
        this.url = url;
    }

    /// @param limits of the team, in JSON; null for none
    static TeamClient of(OwnCay cay, String name, @Nullable String limits) throws IOException, InterruptedException {
        var client = new TeamClient(cay.url());
        String admin =
                Files.readString(cay.directory().resolve("state/admin.token")).strip();
        String team = client.admin(admin, "POST", "/admin/teams", "{\"name\": \"%s\"}".formatted(name))
                .path("teamID")
                .asString("");
        client.key = client.admin(admin, "POST", "/admin/teams/%s/api-keys".formatted(team), "{\"name\": \"bench\"}")
                .path("key")
                .asString("");
        if (limits != null) {
            client.admin(admin, "PUT", "/admin/teams/%s/limits".formatted(team), limits);
        }
        return client;
    }

    private JsonNode admin(String token, String method, String path, String body)
            throws IOException, InterruptedException {
        var answer = http.send(
                HttpRequest.newBuilder(url.resolve(path))
                        .timeout(LIMIT)
                        .header("X-Admin-Token", token)
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new IOException(
                    "%s %s was answered %d: %s".formatted(method, path, answer.statusCode(), answer.body()));
        }
        return JsonMapper.shared().readTree(answer.body());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(url.resolve(path))
                        .timeout(LIMIT)
                        .header("X-API-Key", key)
                        .build(),
                BodyHandlers.ofString());
    }

    /// @return milliseconds
    double list() throws IOException, InterruptedException {
        long began = System.nanoTime();
        var answer = get("/v2/sandboxes");
        if (answer.statusCode() != 200) {
            throw new IOException("the list was answered %d: %s".formatted(answer.statusCode(), answer.body()));
        }
        return (System.nanoTime() - began) / 1e6;
    }

    /// Creates a sandbox and kills it.
    ///
    /// @return milliseconds of the create
    double create() throws IOException, InterruptedException {
        long began = System.nanoTime();
        try (var _ = RemoteSandbox.create(url, key)) {
            return (System.nanoTime() - began) / 1e6;
        }
    }

    /// Asks and creates without pause until it is over.
    ///
    /// @param refused counts what was refused
    void flood(AtomicBoolean over, AtomicInteger refused) {
        while (!over.get()) {
            try {
                if (get("/v2/sandboxes").statusCode() == 429) {
                    refused.incrementAndGet();
                }
                create();
            } catch (IOException | RuntimeException e) {
                refused.incrementAndGet();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
