package dev.cay.mcp.protocol.face;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.HttpListeners;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.ConversationHost;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// An {@link HttpFace} on a real port, and a client that says exactly what it is told to.
final class FaceServer implements AutoCloseable, ConversationHost {
    static final Duration LIMIT = Duration.ofSeconds(30);

    final BlockingQueue<ScriptedConversation> opened = new LinkedBlockingQueue<>();
    volatile boolean away;
    final HttpFace face;
    final InetSocketAddress address;
    private final HttpListeners listeners = new HttpListeners();
    final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    FaceServer(HttpFace.Settings settings) throws IOException {
        face = new HttpFace(this, settings);
        face.start();
        address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), face);
    }

    @Override
    public @Nullable String admit(@Nullable String bearer) {
        return "one".equals(bearer) || "two".equals(bearer) ? bearer : null;
    }

    @Override
    public Conversation open(String owner, Conversation.Client way) {
        var conversation = new ScriptedConversation(owner, way);
        opened.add(conversation);
        return conversation;
    }

    @Override
    public boolean isAway() {
        return away;
    }

    ScriptedConversation conversation() throws InterruptedException {
        var conversation = opened.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(conversation).isNotNull();
        return conversation;
    }

    /// @param headers name, value, name, value...; a null value leaves out what is usual
    HttpRequest.Builder request(@Nullable String... headers) {
        var all = new java.util.TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        all.put("Authorization", "Bearer one");
        all.put("Content-Type", "application/json");
        all.put("Accept", "application/json, text/event-stream");
        for (int i = 0; i < headers.length; i += 2) {
            if (headers[i + 1] == null) {
                all.remove(headers[i]);
            } else {
                all.put(headers[i], headers[i + 1]);
            }
        }
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/mcp".formatted(address.getPort())))
                .timeout(LIMIT);
        all.forEach(request::header);
        return request;
    }

    HttpResponse<String> post(String body, @Nullable String... headers) throws Exception {
        return client.send(
                request(headers).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> send(String method, @Nullable String... headers) throws Exception {
        return client.send(
                request(headers)
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    Events events(HttpRequest.Builder request) throws Exception {
        var response = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        return new Events(response);
    }

    Events open(String body, @Nullable String... headers) throws Exception {
        return events(request(headers).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    Events listen(@Nullable String... headers) throws Exception {
        return events(request(headers).GET());
    }

    /// A session of the older revisions.
    String initialize(String token) throws Exception {
        var answer = post(
                call("initialize", 0, "{\"protocolVersion\": \"2025-11-25\", \"capabilities\": {}}"),
                "Authorization",
                "Bearer " + token);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.headers().firstValue("Mcp-Session-Id").orElseThrow();
    }

    static String call(String method, int id, String params) {
        return "{\"jsonrpc\": \"2.0\", \"id\": %d, \"method\": \"%s\", \"params\": %s}".formatted(id, method, params);
    }

    static String tool(int id, String name) {
        return call("tools/call", id, "{\"name\": \"%s\", \"arguments\": {\"a\": 1}}".formatted(name));
    }

    static int code(HttpResponse<String> answer) {
        return Json.mapper().readTree(answer.body()).path("error").path("code").asInt();
    }

    record Event(@Nullable String id, @Nullable String retry, String data) {
        JsonNode json() {
            return Json.mapper().readTree(data);
        }
    }

    /// A stream of events as it comes.
    static final class Events implements AutoCloseable {
        final HttpResponse<InputStream> response;
        private final BufferedReader lines;
        final List<String> comments = new ArrayList<>();

        Events(HttpResponse<InputStream> response) {
            this.response = response;
            this.lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        }

        /// Null at the end.
        @Nullable
        Event next() throws IOException {
            String id = null;
            String retry = null;
            String data = null;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("id: ")) {
                    id = line.substring(4);
                } else if (line.startsWith("retry: ")) {
                    retry = line.substring(7);
                } else if (line.startsWith("data: ")) {
                    data = line.substring(6);
                } else if (line.startsWith(":")) {
                    comments.add(line);
                } else if (line.isEmpty() && data != null) {
                    return new Event(id, retry, data);
                }
            }
            return null;
        }

        Event require() throws IOException {
            var event = next();
            assertThat(event).isNotNull();
            return event;
        }

        @Override
        public void close() throws IOException {
            response.body().close();
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
        face.close();
        listeners.close();
    }
}
