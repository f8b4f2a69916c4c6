package dev.cay.node.ingress;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.http.HttpListeners;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.WatchHub;
import dev.cay.node.guest.TestSandbox;
import dev.cay.node.log.LogHub;
import dev.cay.node.process.ProcessTable;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.ResourceUse;
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
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;

/// An envd over a real guest that has the host's files, spoken to by HTTP as clients do, and no more.
final class TestEnvd implements AutoCloseable {
    static final String TOKEN = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
    static final Instant NOW = Instant.ofEpochSecond(1_800_000_000);

    private final Undo closing = new Undo();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI base;
    private final FileTree files;

    TestEnvd() throws Exception {
        closing.step(http::shutdownNow);
        var sandbox = closing.add(new TestSandbox());
        var link = closing.add(sandbox.link());
        var table = closing.add(new ProcessTable(
                sandbox.directory().resolve("processes"), link, sandbox.workers(), ProcessTable.Settings.DEFAULT));
        table.adopt();
        var hub = closing.add(new WatchHub(sandbox.poller()));
        files = closing.add(FileTree.open(sandbox.pid(), 0, sandbox.threads(), hub));
        var id = new SandboxId("abc");
        var envd = new Envd(
                new Envd.Sandbox(
                        id,
                        "base",
                        Map.of(),
                        Map.of(),
                        TOKEN,
                        "root",
                        "/tmp",
                        table,
                        files,
                        () -> new ResourceUse(NOW, 2, 1, 1, 1, 1, 1, 1),
                        new LogHub(InstantSource.fixed(NOW)).of(id)),
                InstantSource.fixed(NOW),
                new Meters());
        var listeners = closing.add(new HttpListeners());
        listeners.start();
        var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), envd);
        base = URI.create("http://127.0.0.1:" + address.getPort());
    }

    FileTree files() {
        return files;
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

    HttpResponse<String> upload(String path, String content) throws IOException, InterruptedException {
        return send(
                file(path).header("Content-Type", "application/octet-stream").POST(BodyPublishers.ofString(content)));
    }

    HttpResponse<String> call(String method, String json, String... headers) throws IOException, InterruptedException {
        var request = request("/filesystem.Filesystem/" + method).header("Content-Type", "application/json");
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request.POST(BodyPublishers.ofString(json)));
    }

    InputStream open(String method, String json, String... headers) throws IOException, InterruptedException {
        byte[] message = json.getBytes(UTF_8);
        byte[] framed = ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
        var request = request("/filesystem.Filesystem/" + method).header("Content-Type", "application/connect+json");
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.POST(BodyPublishers.ofByteArray(framed)).build(), BodyHandlers.ofInputStream())
                .body();
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
