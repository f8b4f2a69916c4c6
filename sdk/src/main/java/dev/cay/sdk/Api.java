package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// The server's API, which creates, lists and ends sandboxes.
final class Api {
    static final String AGENT = "cay-java-sdk/" + version();

    private static final int TRIES = 4;

    private final Settings settings;
    private final Http http;

    Api(Settings settings, Http http) {
        this.settings = settings;
        this.http = http;
    }

    /// The version that the build wrote into the jar.
    private static String version() {
        try (var in = Api.class.getResourceAsStream("version.txt")) {
            if (in == null) {
                throw new IllegalStateException("the build left out version.txt");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Settings settings() {
        return settings;
    }

    Http http() {
        return http;
    }

    JsonNode get(String path) {
        return json(request(path).GET().build());
    }

    JsonNode post(String path, Map<String, ?> body) {
        var json = Http.JSON.writeValueAsString(body);
        return json(request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(json))
                .build());
    }

    void put(String path, Map<String, ?> body) {
        var json = Http.JSON.writeValueAsString(body);
        var _ = json(request(path)
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(json))
                .build());
    }

    /// Deletes something.
    ///
    /// @return whether it existed
    boolean delete(String path) {
        try {
            json(request(path).DELETE().build());
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /// All pages of a list.
    List<JsonNode> list(String path, Map<String, String> query) {
        var entries = new ArrayList<JsonNode>();
        var parameters = new LinkedHashMap<>(query);
        Optional<String> next;
        do {
            var request = request(path + query(parameters)).GET().build();
            next = patiently(request, () -> addPage(request, entries));
            next.ifPresent(token -> parameters.put("nextToken", token));
        } while (next.isPresent());
        return entries;
    }

    private Optional<String> addPage(HttpRequest request, List<JsonNode> entries) {
        var answer = http.open(request);
        Http.parse(new String(http.read(request, answer), StandardCharsets.UTF_8))
                .valueStream()
                .forEach(entries::add);
        return answer.headers().firstValue("X-Next-Token").filter(token -> !token.isEmpty());
    }

    JsonNode json(HttpRequest request) {
        return patiently(request, () -> http.json(request));
    }

    /// Retries a call when the server asks for it, as long as the wait fits into the call's time limit.
    private <T> T patiently(HttpRequest request, Supplier<T> call) {
        long deadline = System.nanoTime() + request.timeout().orElseThrow().toNanos();
        for (int tries = 1; ; tries++) {
            try {
                return call.get();
            } catch (SandboxException e) {
                var wait = e.retryAfter().filter(_ -> e.kind() == Kind.RATE_LIMITED);
                if (tries == TRIES
                        || wait.isEmpty()
                        || System.nanoTime() + wait.get().toNanos() > deadline) {
                    throw e;
                }
                sleep(wait.get());
            }
        }
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(Kind.INTERRUPTED, "interrupted while waiting to try again", e);
        }
    }

    private HttpRequest.Builder request(String path) {
        var uri = URI.create(settings.apiUrl() + path);
        return HttpRequest.newBuilder(uri)
                .version(versionFor(uri))
                .timeout(settings.requestTimeout())
                .header("X-API-KEY", settings.apiKey())
                .header("User-Agent", AGENT);
    }

    /// A request to the files of a volume, which needs the volume's token and no API key.
    HttpRequest.Builder request(String path, String token) {
        var uri = URI.create(settings.apiUrl() + path);
        return HttpRequest.newBuilder(uri)
                .version(versionFor(uri))
                .timeout(settings.requestTimeout())
                .header("Authorization", "Bearer " + token)
                .header("User-Agent", AGENT);
    }

    /// HTTP/1.1 for plain http: an upgrade to HTTP/2 costs time, and no server grants it.
    static HttpClient.Version versionFor(URI uri) {
        return "https".equals(uri.getScheme()) ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
    }

    /// Encodes a part of a path or a query; a space becomes `%20`.
    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static String query(Map<String, String> parameters) {
        return parameters.isEmpty()
                ? ""
                : parameters.entrySet().stream()
                        .map(entry -> encode(entry.getKey()) + "=" + encode(entry.getValue()))
                        .collect(Collectors.joining("&", "?", ""));
    }
}
