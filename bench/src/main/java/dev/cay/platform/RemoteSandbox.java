package dev.cay.platform;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SystemPorts;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A sandbox of a running daemon, used as any client would. Closing it kills it; doing so twice is fine.
public final class RemoteSandbox implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration LIFE = Duration.ofMinutes(10);
    private static final String ROOT =
            "Basic " + Base64.getEncoder().encodeToString("root:".getBytes(StandardCharsets.US_ASCII));

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final URI url;
    private final String key;
    private final String id;
    private final String token;
    private volatile boolean closed;

    private RemoteSandbox(URI url, String key, String template, Duration life, String path)
            throws IOException, InterruptedException {
        this(url, key, path, "{\"templateID\":\"%s\",\"timeout\":%d}".formatted(template, life.toSeconds()));
    }

    private RemoteSandbox(URI url, String key, String path, String body) throws IOException, InterruptedException {
        this.url = url;
        this.key = key;
        var answer = http.send(
                HttpRequest.newBuilder(url.resolve(path))
                        .timeout(LIMIT)
                        .header("X-API-Key", key)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
        var made = JsonMapper.shared().readTree(require(answer).body());
        this.id = made.path("sandboxID").asString();
        this.token = made.path("envdAccessToken").asString("");
    }

    /// @param url plain HTTP base of the daemon
    public static RemoteSandbox create(URI url, String key) throws IOException, InterruptedException {
        return create(url, key, LIFE);
    }

    /// @param life after which it ends by itself
    public static RemoteSandbox create(URI url, String key, Duration life) throws IOException, InterruptedException {
        return create(url, key, "base", life);
    }

    public static RemoteSandbox create(URI url, String key, String template, Duration life)
            throws IOException, InterruptedException {
        return new RemoteSandbox(url, key, template, life, "/v2/sandboxes");
    }

    /// One that anybody may use who knows its name: code inside may call its own node too.
    public static RemoteSandbox open(URI url, String key, String template, Duration life)
            throws IOException, InterruptedException {
        return new RemoteSandbox(url, key, template, life, "/sandboxes");
    }

    /// One that is there already; a paused one goes on.
    public static RemoteSandbox connect(URI url, String key, String id) throws IOException, InterruptedException {
        return new RemoteSandbox(
                url, key, "/v2/sandboxes/%s/connect".formatted(id), "{\"timeout\":%d}".formatted(LIFE.toSeconds()));
    }

    public String id() {
        return id;
    }

    /// What opens it.
    public String token() {
        return token;
    }

    public void write(String path, byte[] content) throws IOException, InterruptedException {
        require(http.send(
                file(path)
                        .header("Content-Type", "application/octet-stream")
                        .POST(BodyPublishers.ofByteArray(content))
                        .build(),
                BodyHandlers.ofString()));
    }

    /// Status and body, whatever they are.
    public HttpResponse<byte[]> read(String path) throws IOException, InterruptedException {
        return http.send(file(path).GET().build(), BodyHandlers.ofByteArray());
    }

    public HttpResponse<byte[]> tryWrite(String path, byte[] content) throws IOException, InterruptedException {
        return http.send(
                file(path)
                        .header("Content-Type", "application/octet-stream")
                        .POST(BodyPublishers.ofByteArray(content))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    /// Any request to the sandbox's port for files and processes, whatever comes of it.
    public HttpResponse<String> send(String pathAndQuery, String type, byte[] body)
            throws IOException, InterruptedException {
        return http.send(
                request(pathAndQuery)
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofString());
    }

    /// A call of the file system service, whatever comes of it.
    public HttpResponse<String> fileCall(String method, Map<String, ?> message)
            throws IOException, InterruptedException {
        return http.send(
                request("/filesystem.Filesystem/" + method)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(message)))
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpRequest.Builder file(String path) {
        return request("/files?username=root&path=" + URLEncoder.encode(path, StandardCharsets.UTF_8));
    }

    /// Runs a program as root and returns what it wrote, when it has ended.
    public String run(List<String> command) throws IOException, InterruptedException {
        var output = new ByteArrayOutputStream();
        @Nullable JsonNode last = null;
        try (var events = start(command)) {
            for (var event = event(events); !event.path("event").has("end"); event = event(events)) {
                last = event;
                for (String channel : List.of("stdout", "stderr")) {
                    String data = event.path("event").path("data").path(channel).asString("");
                    output.writeBytes(Base64.getDecoder().decode(data));
                }
            }
            // To the very end, or the connection would have to be closed and could not be used again.
            events.readAllBytes();
        } catch (EOFException e) {
            throw new IOException(
                    "the sandbox ended under %s; the last it said: %s".formatted(command.getFirst(), last), e);
        }
        return output.toString(StandardCharsets.UTF_8);
    }

    /// A program whose events come as they happen; it goes on when nobody reads.
    public DataInputStream start(List<String> command) throws IOException, InterruptedException {
        var process = Map.of("cmd", command.getFirst(), "args", command.subList(1, command.size()));
        return stream("/process.Process/Start", Map.of("process", process, "stdin", false), Duration.ZERO);
    }

    /// A call whose answers come as they happen.
    ///
    /// @param limit when the node shall end it; zero for never
    public DataInputStream stream(String method, Map<String, ?> request, Duration limit)
            throws IOException, InterruptedException {
        byte[] message = JsonMapper.shared().writeValueAsBytes(request);
        var framed = ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message);
        var answer = http.send(
                request(method)
                        .header("Content-Type", "application/connect+json")
                        .header("Connect-Timeout-Ms", Long.toString(limit.toMillis()))
                        .POST(BodyPublishers.ofByteArray(framed.array()))
                        .build(),
                BodyHandlers.ofInputStream());
        if (answer.statusCode() != 200) {
            throw new IOException("%s was answered %d".formatted(method, answer.statusCode()));
        }
        return new DataInputStream(answer.body());
    }

    /// The next of a stream's events.
    public static JsonNode event(DataInputStream events) throws IOException {
        events.readByte();
        return JsonMapper.shared().readTree(events.readNBytes(events.readInt()));
    }

    /// How many processes of it there are on this host. Their command lines are of no use, but their control
    /// groups bear its name.
    public long processes() throws IOException {
        long count = 0;
        try (var entries = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : entries) {
                try {
                    String groups = Files.readString(process.resolve("cgroup"), StandardCharsets.ISO_8859_1);
                    count += groups.contains(id) ? 1 : 0;
                } catch (IOException ended) {
                    // It was not one of them, or is gone.
                }
            }
        }
        return count;
    }

    /// A call of the API about this sandbox.
    ///
    /// @param what follows its address, like `/pause`
    public HttpResponse<String> api(String method, String what, String body) throws IOException, InterruptedException {
        return http.send(call(method, what, body).build(), BodyHandlers.ofString());
    }

    /// Pauses it.
    ///
    /// @param ack what is awaited: `frozen` or `saved`
    public HttpResponse<String> pause(String ack) throws IOException, InterruptedException {
        return http.send(
                call("POST", "/pause", "{}").header("Cay-Pause-Ack", ack).build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder call(String method, String what, String body) {
        return HttpRequest.newBuilder(url.resolve("/sandboxes/" + id + what))
                .timeout(LIMIT)
                .header("X-API-Key", key)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(url.resolve(path))
                .timeout(LIMIT)
                .header("E2b-Sandbox-Id", id)
                .header("E2b-Sandbox-Port", Integer.toString(SystemPorts.ENVD))
                .header("X-Access-Token", token)
                .header("Authorization", ROOT);
    }

    private static HttpResponse<String> require(HttpResponse<String> answer) {
        if (answer.statusCode() / 100 != 2) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s was answered %d: %s"
                            .formatted(answer.request().uri().getPath(), answer.statusCode(), answer.body()));
        }
        return answer;
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            http.send(
                    HttpRequest.newBuilder(url.resolve("/sandboxes/" + id))
                            .timeout(LIMIT)
                            .header("X-API-Key", key)
                            .DELETE()
                            .build(),
                    BodyHandlers.discarding());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            http.shutdownNow();
        }
    }
}
