package dev.cay.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.bench.OwnCay;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The few calls of the API that a proof needs many times a second, without a client's own weight in the figures.
final class SandboxCalls implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final int ENVD = 49983;
    private static final int MOST_KEPT = 1 << 20;

    /// @param exit  -1 when a signal ended it
    /// @param error what the end event says beyond the code; empty for none
    record Result(int exit, String error, String stdout) {}

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI base;
    private final String key;

    SandboxCalls(OwnCay cay) {
        var environment = cay.environment(OwnCay.Mode.URL);
        this.base = URI.create("http://127.0.0.1:" + cay.port());
        this.key = environment.getOrDefault("E2B_API_KEY", "");
    }

    /// An unsecured one, so that code inside may call its own node too.
    String create(Duration timeout) throws IOException, InterruptedException {
        var body = JSON.writeValueAsString(Map.of("templateID", "base", "timeout", timeout.toSeconds()));
        var response = http.send(
                HttpRequest.newBuilder(base.resolve("/sandboxes"))
                        .header("X-API-Key", key)
                        .header("Content-Type", "application/json")
                        .timeout(Duration.ofSeconds(60))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 201) {
            throw new IOException("create answered %d: %s".formatted(response.statusCode(), response.body()));
        }
        return JSON.readTree(response.body()).path("sandboxID").asString();
    }

    void kill(String sandbox) throws IOException, InterruptedException {
        http.send(
                HttpRequest.newBuilder(base.resolve("/sandboxes/" + sandbox))
                        .header("X-API-Key", key)
                        .timeout(Duration.ofSeconds(60))
                        .DELETE()
                        .build(),
                HttpResponse.BodyHandlers.discarding());
    }

    int upload(String sandbox, String path, byte[] content) throws IOException, InterruptedException {
        return http.send(
                        call(sandbox, "/files?username=root&path=" + path, Duration.ofSeconds(60))
                                .header("Content-Type", "application/octet-stream")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(content))
                                .build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    HttpResponse<String> unary(String sandbox, String method, String body) throws IOException, InterruptedException {
        return http.send(
                call(sandbox, method, Duration.ofSeconds(60))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /// Runs to its end and keeps what it printed.
    Result run(String sandbox, Duration limit, String... command) throws IOException, InterruptedException {
        try (var events = start(sandbox, limit, command)) {
            return result(events);
        }
    }

    /// The events of a command that was started.
    InputStream start(String sandbox, Duration limit, String... command) throws IOException, InterruptedException {
        var words = List.of(command);
        byte[] message = JSON.writeValueAsBytes(Map.of(
                "process",
                Map.of("cmd", words.getFirst(), "args", words.subList(1, words.size()), "cwd", "/"),
                "stdin",
                false));
        var framed = ByteBuffer.allocate(5 + message.length).put((byte) 0).putInt(message.length);
        var response = http.send(
                call(sandbox, "/process.Process/Start", limit)
                        .header("Content-Type", "application/connect+json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(
                                framed.put(message).array()))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        return response.body();
    }

    private HttpRequest.Builder call(String sandbox, String path, Duration limit) {
        return HttpRequest.newBuilder(base.resolve(path))
                .header("E2b-Sandbox-Id", sandbox)
                .header("E2b-Sandbox-Port", Integer.toString(ENVD))
                .header("Authorization", "Basic " + Base64.getEncoder().encodeToString("root:".getBytes(UTF_8)))
                .timeout(limit);
    }

    private static Result result(InputStream events) throws IOException {
        var output = new StringBuilder();
        var in = new DataInputStream(events);
        while (true) {
            JsonNode event;
            try {
                boolean last = in.readByte() == 2;
                event = JSON.readTree(in.readNBytes(in.readInt()));
                if (last) {
                    throw new IOException("the stream ended: " + event);
                }
            } catch (EOFException e) {
                throw new IOException("the stream broke off", e);
            }
            event = event.path("event");
            var data = event.path("data").path("stdout");
            if (data.isString() && output.length() < MOST_KEPT) {
                output.append(new String(Base64.getDecoder().decode(data.asString()), UTF_8));
            }
            if (event.has("end")) {
                var end = event.path("end");
                // To its very end, or the client would have to close the connection and could not use it again.
                in.readAllBytes();
                return new Result(
                        end.path("exitCode").asInt(0),
                        end.path("error").asString(""),
                        output.toString().strip());
            }
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
