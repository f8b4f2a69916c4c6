package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A sandbox spoken to without any client: requests as they are on the wire, in the way of the Python client, which is
/// not to be had from npm.
final class RawSandbox implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String AGENT = "e2b-python-sdk/2.45.1";

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI base;
    private final String key;
    private final JsonNode made;

    RawSandbox(OwnCay platform) throws IOException, InterruptedException {
        this(platform, """
                {"templateID":"base","metadata":{},"envVars":{},"timeout":300,"secure":true,"autoPause":false,\
                "allow_internet_access":true}""");
    }

    /// @param wanted the body of the request that creates it
    RawSandbox(OwnCay platform, String wanted) throws IOException, InterruptedException {
        base = platform.url();
        key = platform.key();
        var answer = http.send(control(to(base, "/sandboxes"), key, "POST", wanted), BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        made = JsonMapper.shared().readTree(answer.body());
    }

    private static HttpRequest.Builder to(URI base, String path) {
        return HttpRequest.newBuilder(base.resolve(path)).timeout(LIMIT).header("User-Agent", AGENT);
    }

    private static HttpRequest control(HttpRequest.Builder request, String key, String method, String body) {
        return request.header("X-API-KEY", key)
                .header("lang", "python")
                .header("package_version", "2.45.1")
                .header("sdk_runtime", "python")
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    /// What create answered.
    JsonNode made() {
        return made;
    }

    String id() {
        return made.get("sandboxID").asString();
    }

    /// A call of the control plane; the Python client 2.7 to 2.26 names the sandbox in headers there too.
    HttpResponse<String> control(String method, String path, String body) throws IOException, InterruptedException {
        var request = to(base, path).header("E2b-Sandbox-Id", id()).header("E2b-Sandbox-Port", "49983");
        return http.send(control(request, key, method, body), BodyHandlers.ofString());
    }

    /// A request to envd, with all headers but those of its content.
    HttpRequest.Builder envd(String path) {
        return to(base, path)
                .header("E2b-Sandbox-Id", id())
                .header("E2b-Sandbox-Port", "49983")
                .header("X-Access-Token", made.get("envdAccessToken").asString());
    }

    HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    /// A unary call; the Python client sends its limit with those too.
    HttpResponse<byte[]> call(String method, String type, byte[] message) throws IOException, InterruptedException {
        return send(envd("/" + method)
                .header("Content-Type", type)
                .header("Connect-Protocol-Version", "1")
                .header("Connect-Timeout-Ms", "60000")
                .POST(HttpRequest.BodyPublishers.ofByteArray(message)));
    }

    /// A unary call in JSON that works.
    String json(String method, String message) throws IOException, InterruptedException {
        var answer = call(method, "application/json", message.getBytes(StandardCharsets.UTF_8));
        var text = new String(answer.body(), StandardCharsets.UTF_8);
        assertThat(answer.statusCode()).as(text).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        return text;
    }

    Frames stream(String method, String type, byte[] message, String... headers)
            throws IOException, InterruptedException {
        var body = ByteBuffer.allocate(message.length + 5)
                .put((byte) 0)
                .putInt(message.length)
                .put(message);
        var request = envd("/" + method)
                .header("Content-Type", type)
                .header("Connect-Protocol-Version", "1")
                .header("Connect-Timeout-Ms", "60000")
                .header("Keepalive-Ping-Interval", "50")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.array()));
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        var answer = http.send(request.build(), BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue(type);
        return new Frames(new DataInputStream(answer.body()));
    }

    /// The messages of a stream, each behind its flag byte and its length.
    record Frames(DataInputStream in) implements AutoCloseable {
        record Frame(int flags, byte[] content) {
            String text() {
                return new String(content, StandardCharsets.UTF_8);
            }
        }

        Frame next() throws IOException {
            int flags = in.readUnsignedByte();
            return new Frame(flags, in.readNBytes(in.readInt()));
        }

        /// The frame that ends it, behind which nothing comes.
        String end() throws IOException {
            var last = next();
            assertThat(last.flags()).as(last::text).isEqualTo(2);
            assertThat(in.read()).isEqualTo(-1);
            return last.text();
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            control("DELETE", "/sandboxes/" + id(), "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            http.shutdownNow();
        }
    }
}
