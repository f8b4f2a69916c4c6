package dev.cay.node.mcp.oauth;

import dev.cay.http.Json;
import dev.cay.web.Deadline;
import dev.cay.web.Lines;
import dev.cay.web.UrlOrigin;
import dev.cay.web.WebAnswer;
import dev.cay.web.WebLine;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Small JSON documents that are fetched from, and sent to, servers that may be hostile. The address of each connection
/// is checked by who makes it. Thread-safe.
final class OAuthWeb {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int LARGEST = 256 * 1024;
    private static final int MOST_REDIRECTS = 3;

    /// @param json missing if the answer is no JSON object
    record Answer(int status, JsonNode json) {
        boolean succeeded() {
            return status / 100 == 2 && json.isObject();
        }
    }

    private final Lines lines;

    /// @param lines connects only to what may be called
    OAuthWeb(Lines lines) {
        this.lines = lines;
    }

    /// A document; empty if there is none at this address.
    Optional<JsonNode> get(URI url) throws IOException {
        URI at = url;
        for (int hops = 0; hops <= MOST_REDIRECTS; hops++) {
            try (var line = lines.open(UrlOrigin.of(at));
                    var deadline = Deadline.start(LIMIT, line)) {
                var answer = send(line, deadline, "GET", at, Map.of(), null);
                if (!answer.redirects()) {
                    var read = read(answer, deadline);
                    return read.succeeded() ? Optional.of(read.json()) : Optional.empty();
                }
                at = answer.redirect(at);
            }
        }
        throw new IOException("it redirects more than %d times".formatted(MOST_REDIRECTS));
    }

    /// Sends a form. Redirects are not followed, because the form has credentials.
    Answer post(URI url, Map<String, String> headers, Map<String, String> form) throws IOException {
        byte[] body = form.entrySet().stream()
                .map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
                .collect(Collectors.joining("&"))
                .getBytes(StandardCharsets.US_ASCII);
        return post(url, headers, "application/x-www-form-urlencoded", body);
    }

    Answer post(URI url, JsonNode document) throws IOException {
        return post(url, Map.of(), "application/json", Json.write(document));
    }

    private Answer post(URI url, Map<String, String> headers, String type, byte[] body) throws IOException {
        var all = new LinkedHashMap<>(headers);
        all.put("Content-Type", type);
        try (var line = lines.open(UrlOrigin.of(url));
                var deadline = Deadline.start(LIMIT, line)) {
            return read(send(line, deadline, "POST", url, all, body), deadline);
        }
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static WebAnswer send(
            WebLine line,
            Deadline deadline,
            String method,
            URI url,
            Map<String, String> headers,
            byte @Nullable [] body)
            throws IOException {
        var all = new LinkedHashMap<>(headers);
        all.put("User-Agent", "cay");
        all.put("Accept", "application/json");
        all.put("Connection", "close");
        try {
            line.send(method, UrlOrigin.target(url), all, body);
            return WebAnswer.read(line);
        } catch (IOException e) {
            throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
        }
    }

    private static Answer read(WebAnswer answer, Deadline deadline) throws IOException {
        byte[] bytes;
        try {
            bytes = answer.content().readNBytes(LARGEST + 1);
        } catch (IOException e) {
            throw deadline.passed() ? new SocketTimeoutException("no answer in time") : e;
        }
        if (bytes.length > LARGEST) {
            throw new IOException("it answers with more than %d kB".formatted(LARGEST >> 10));
        }
        return new Answer(answer.status(), json(bytes));
    }

    private static JsonNode json(byte[] bytes) {
        try {
            var tree = Json.mapper().readTree(bytes);
            return tree.isObject() ? tree : tree.path("");
        } catch (JacksonException _) {
            // Without the cause, which would quote the answer, perhaps with a token.
            return Json.mapper().missingNode();
        }
    }
}
