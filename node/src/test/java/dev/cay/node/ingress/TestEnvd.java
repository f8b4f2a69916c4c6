package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.http.HttpListeners;
import dev.cay.life.Undo;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.watch.Watches;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;

/// An envd over a real guest that has the host's files, spoken to by HTTP as clients do, and no more.
final class TestEnvd implements AutoCloseable {
    static final String TOKEN = GuestEnvd.TOKEN;

    private final Undo closing = new Undo();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI base;
    private final GuestEnvd envd;

    TestEnvd() throws Exception {
        this(Map.of(), Map.of());
    }

    /// @param trusted variables of the template
    /// @param asked   variables that came with the create
    TestEnvd(Map<String, String> trusted, Map<String, String> asked) throws Exception {
        closing.step(http::shutdownNow);
        envd = closing.add(new GuestEnvd(ProcessSettings.DEFAULT, trusted, asked));
        var listeners = closing.add(new HttpListeners());
        listeners.start();
        var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), envd);
        base = URI.create("http://127.0.0.1:" + address.getPort());
    }

    Watches watches() {
        return envd.watches();
    }

    /// Without a token.
    HttpRequest.Builder bare(String pathAndQuery) {
        return HttpRequest.newBuilder(URI.create(base + pathAndQuery)).timeout(Duration.ofSeconds(30));
    }

    HttpRequest.Builder request(String pathAndQuery) {
        return bare(pathAndQuery).header("X-Access-Token", TOKEN);
    }

    HttpRequest.Builder file(String path) {
        return request("/files?path=" + URLEncoder.encode(path, UTF_8));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    HttpResponse<byte[]> sendForBytes(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    /// The body as it comes.
    InputStream sendForStream(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofInputStream()).body();
    }

    HttpResponse<String> upload(String path, String content) throws IOException, InterruptedException {
        return send(
                file(path).header("Content-Type", "application/octet-stream").POST(BodyPublishers.ofString(content)));
    }

    /// A call of the service for files.
    HttpResponse<String> call(String method, String json, String... headers) throws IOException, InterruptedException {
        return post("/filesystem.Filesystem/" + method, json, headers);
    }

    HttpResponse<String> post(String path, String json, String... headers) throws IOException, InterruptedException {
        return send(with(request(path), headers)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(json)));
    }

    /// A call of the service for files whose answers come as they happen.
    InputStream open(String method, String json, String... headers) throws IOException, InterruptedException {
        return stream("/filesystem.Filesystem/" + method, json, headers).body();
    }

    HttpResponse<InputStream> stream(String path, String json, String... headers)
            throws IOException, InterruptedException {
        byte[] message = json.getBytes(UTF_8);
        byte[] framed = ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
        return http.send(
                with(request(path), headers)
                        .header("Content-Type", "application/connect+json")
                        .POST(BodyPublishers.ofByteArray(framed))
                        .build(),
                BodyHandlers.ofInputStream());
    }

    private static HttpRequest.Builder with(HttpRequest.Builder request, String... headers) {
        return headers.length > 0 ? request.headers(headers) : request;
    }

    static String frame(InputStream in) throws IOException {
        var data = new DataInputStream(in);
        data.readByte();
        return new String(data.readNBytes(data.readInt()), UTF_8);
    }

    @Override
    public void close() {
        closing.close();
    }
}
