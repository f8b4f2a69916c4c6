package dev.cay.prove;

import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Asks a daemon for builds, as any client does.
final class BuildClient implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int PAGE = 100;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final OwnCay cay;

    BuildClient(OwnCay cay) {
        this.cay = cay;
    }

    /// A build that was asked for.
    record Build(String template, String id) {}

    /// One line of a build's log.
    ///
    /// @param step of the build; `base`, a number or `finalize`
    record Line(String step, String message) {}

    /// How far a build is.
    ///
    /// @param state  `waiting`, `building`, `ready` or `error`
    /// @param reason why it failed; empty if it did not
    /// @param step   at which it failed
    record Status(String state, List<Line> lines, String reason, String step) {
        boolean isOver() {
            return state.equals("ready") || state.equals("error");
        }

        boolean isReady() {
            return state.equals("ready");
        }
    }

    /// Sends all that a build needs, and begins it.
    Build begin(BuildOrder order) throws IOException, InterruptedException {
        var asked = json(require(api(
                "POST", "/v3/templates", "{\"name\":\"%s\",\"cpuCount\":1,\"memoryMB\":256}".formatted(order.name()))));
        var build = new Build(
                asked.path("templateID").asString(), asked.path("buildID").asString());
        if (order.files().length > 0) {
            send(build, order);
        }
        require(api("POST", "/v2/templates/%s/builds/%s".formatted(build.template(), build.id()), order.body()));
        return build;
    }

    private void send(Build build, BuildOrder order) throws IOException, InterruptedException {
        var link =
                json(require(api("GET", "/templates/%s/files/%s".formatted(build.template(), order.filesHash()), "")));
        if (!link.path("present").asBoolean(false)) {
            var uri = URI.create(link.path("url").asString());
            require(http.send(
                    HttpRequest.newBuilder(uri)
                            .timeout(LIMIT)
                            .PUT(BodyPublishers.ofByteArray(order.files()))
                            .build(),
                    BodyHandlers.ofString()));
        }
    }

    /// Where files of a template are sent to.
    URI uploadLink(String template, String hash) throws IOException, InterruptedException {
        return URI.create(json(require(api("GET", "/templates/%s/files/%s".formatted(template, hash), "")))
                .path("url")
                .asString());
    }

    Status status(Build build) throws IOException, InterruptedException {
        var lines = new ArrayList<Line>();
        while (true) {
            var answer = json(require(api(
                    "GET",
                    "/templates/%s/builds/%s/status?logsOffset=%d&limit=%d"
                            .formatted(build.template(), build.id(), lines.size(), PAGE),
                    "")));
            var page = answer.path("logEntries");
            page.forEach(line -> lines.add(new Line(
                    line.path("step").asString(""), line.path("message").asString(""))));
            if (page.size() < PAGE) {
                var reason = answer.path("reason");
                return new Status(
                        answer.path("status").asString(""),
                        lines,
                        reason.path("message").asString(""),
                        reason.path("step").asString(""));
            }
        }
    }

    void delete(String template) throws IOException, InterruptedException {
        require(api("DELETE", "/templates/" + template, ""));
    }

    private HttpResponse<String> api(String method, String path, String body) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(cay.url().resolve(path))
                        .timeout(LIMIT)
                        .header("X-API-Key", cay.key())
                        .header("Content-Type", "application/json")
                        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> answer) {
        return JsonMapper.shared().readTree(answer.body());
    }

    private static HttpResponse<String> require(HttpResponse<String> answer) {
        if (answer.statusCode() / 100 != 2) {
            throw new IllegalStateException("%s was answered %d: %s"
                    .formatted(answer.request().uri().getPath(), answer.statusCode(), answer.body()));
        }
        return answer;
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
