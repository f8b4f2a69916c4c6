package dev.cay.cli;

import dev.cay.cli.local.ConfigOptions;
import dev.cay.cli.local.KeyFile;
import dev.cay.cli.local.RunFile;
import dev.cay.config.CayConfig;
import dev.cay.server.access.AdminToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The API of the daemon on this machine.
///
/// @param credentials headers with the caller's credentials
record Api(URI url, Map<String, String> credentials) {
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

    /// A pause may have gigabytes to write.
    private static final Duration LIMIT = Duration.ofMinutes(7);

    private static final Duration UPLOAD_LIMIT = Duration.ofHours(1);
    private static final Duration TELL_EVERY = Duration.ofSeconds(3);

    private static final JsonMapper JSON = new JsonMapper();

    /// Refuses when no daemon runs or the user has no key.
    static Api of(ConfigOptions options) {
        CayConfig config = options.config();
        RunFile daemon = RunFile.require(config.runDir(), options);
        return new Api(URI.create(daemon.url()), ownKey(config.instance()));
    }

    /// Uses the user's own key.
    Api(URI url, String key) {
        this(url, Map.of("X-API-Key", key));
    }

    /// Uses the operator's token. Fails when no daemon runs or the user may not read the token.
    static Api ofOperator(ConfigOptions options) {
        CayConfig config = options.config();
        RunFile daemon = RunFile.require(config.runDir(), options);
        var token = AdminToken.in(config.stateDir());
        if (!Files.isReadable(token.file())) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "only root reads the operator's token; try: sudo " + options.command("..."));
        }
        return new Api(URI.create(daemon.url()), Map.of(AdminToken.HEADER, token.read()));
    }

    static String ownKey(String instance) {
        Path home = Path.of(System.getenv().getOrDefault("HOME", System.getProperty("user.home")));
        try {
            return KeyFile.read(home, instance)
                    .orElseThrow(() -> new CayException(
                            ErrorKind.NOT_FOUND,
                            "you have no API key in %s; copy it from root's or another user's file of that name"
                                    .formatted(KeyFile.in(home, instance))));
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "cannot read " + KeyFile.in(home, instance) + ": " + e.getMessage(), e);
        }
    }

    /// The same with one more header.
    Api with(String header, String value) {
        var headers = new HashMap<>(credentials);
        headers.put(header, value);
        return new Api(url, headers);
    }

    /// Fails with the daemon's own words.
    ///
    /// @param body null for none
    JsonNode call(String method, String path, @Nullable Map<String, Object> body) {
        return ask(method, path, body).json();
    }

    /// A text as one part of a path, or as a value of a query.
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// All items of a list that comes in pages.
    List<JsonNode> all(String path) {
        var all = new ArrayList<JsonNode>();
        var token = Optional.of("");
        while (token.isPresent()) {
            var page = ask("GET", "%s?limit=100%s".formatted(path, token.get()), null);
            page.json().forEach(all::add);
            token = page.next().map(next -> "&nextToken=" + encoded(next));
        }
        return all;
    }

    /// Sends a file to a link that the daemon gave.
    void upload(URI link, Path file) {
        try (var http = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT).build()) {
            var request = HttpRequest.newBuilder(link)
                    .timeout(UPLOAD_LIMIT)
                    .PUT(BodyPublishers.ofFile(file))
                    .build();
            var answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() >= 300) {
                throw refused(answer.statusCode(), answer.body());
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "files could not be sent to %s: %s".formatted(url, e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    /// Writes what the daemon sends into a file.
    ///
    /// @param progress told every few seconds how many bytes there are
    void download(String path, Path file, LongConsumer progress) {
        try (var http = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT).build()) {
            var request = HttpRequest.newBuilder(url.resolve(path))
                    .timeout(UPLOAD_LIMIT)
                    .headers(headers())
                    .build();
            var answer = http.send(request, BodyHandlers.ofInputStream());
            try (var in = answer.body()) {
                if (answer.statusCode() >= 300) {
                    throw refused(answer.statusCode(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
                }
                try (var out = Files.newOutputStream(file)) {
                    copy(in, out, progress);
                }
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s could not be fetched: %s; `cay logs` may say why".formatted(path, e.getMessage()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    /// Processes an answer while it arrives.
    interface Receiver<T> {
        T receive(InputStream answer) throws IOException;
    }

    /// Posts something, and reads the answer as it arrives.
    <T> T receive(String path, Map<String, Object> body, Receiver<T> receiver) throws IOException {
        try (var http = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT).build()) {
            var request = HttpRequest.newBuilder(url.resolve(path))
                    .timeout(UPLOAD_LIMIT)
                    .headers(headers())
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)))
                    .build();
            var answer = http.send(request, BodyHandlers.ofInputStream());
            try (var in = answer.body()) {
                if (answer.statusCode() >= 300) {
                    throw refused(answer.statusCode(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
                }
                return receiver.receive(in);
            } finally {
                http.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    private static void copy(InputStream in, OutputStream out, LongConsumer progress) throws IOException {
        byte[] buffer = new byte[1 << 18];
        long all = 0;
        long told = System.nanoTime();
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
            out.write(buffer, 0, length);
            all += length;
            if (System.nanoTime() - told > TELL_EVERY.toNanos()) {
                told = System.nanoTime();
                progress.accept(all);
            }
        }
    }

    private static CayException refused(int status, String body) {
        return new CayException(
                status == 404 ? ErrorKind.NOT_FOUND : ErrorKind.FAILED,
                parse(body).path("message").asString("the daemon answered " + status));
    }

    private String[] headers() {
        return credentials.entrySet().stream()
                .flatMap(header -> Stream.of(header.getKey(), header.getValue()))
                .toArray(String[]::new);
    }

    private record Answer(JsonNode json, Optional<String> next) {}

    private Answer ask(String method, String path, @Nullable Map<String, Object> body) {
        try (var http = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT).build()) {
            var request = HttpRequest.newBuilder(url.resolve(path))
                    .timeout(LIMIT)
                    .headers(headers())
                    .header("Content-Type", "application/json")
                    .method(
                            method,
                            body == null
                                    ? BodyPublishers.noBody()
                                    : BodyPublishers.ofString(JSON.writeValueAsString(body)))
                    .build();
            var answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() >= 300) {
                throw refused(answer.statusCode(), answer.body());
            }
            return new Answer(parse(answer.body()), answer.headers().firstValue("X-Next-Token"));
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "the daemon at %s does not answer: %s".formatted(url, e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    private static JsonNode parse(String text) {
        try {
            return text.isEmpty() ? JSON.createObjectNode() : JSON.readTree(text);
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }
}
