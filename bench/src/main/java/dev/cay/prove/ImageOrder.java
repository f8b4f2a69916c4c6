package dev.cay.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.dockerfile.TarWriter;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import tools.jackson.databind.json.JsonMapper;

/// A template of an image with several large layers, which lies in a registry.
///
/// @param byDockerfile whether a Dockerfile names the image
record ImageOrder(String registry, String salt, boolean byDockerfile) implements BuildOrder {
    private static final Duration LIFE = Duration.ofMinutes(2);
    private static final int LAYERS = 3;
    private static final int BYTES = 24 << 20;
    private static final String MANIFEST = "application/vnd.oci.image.manifest.v1+json";

    @Override
    public String name() {
        return "proof-" + salt;
    }

    private String image() {
        return "%s/%s:1".formatted(registry, salt);
    }

    @Override
    public String body() {
        var body = JsonMapper.shared().createObjectNode();
        return byDockerfile
                ? body.put("dockerfile", "FROM %s\n".formatted(image())).toString()
                : body.put("fromImage", image()).toString();
    }

    @Override
    public String wrong(OwnCay cay) throws IOException, InterruptedException {
        try (var sandbox = RemoteSandbox.create(cay.url(), cay.key(), name(), LIFE)) {
            for (int i = 0; i < LAYERS; i++) {
                var answer = sandbox.read("/data" + i);
                if (answer.statusCode() != 200
                        || !BuildOrder.digest(answer.body()).equals(BuildOrder.digest(data(i)))) {
                    return "a sandbox of it has other bytes in /data%d: %d bytes with status %d"
                            .formatted(i, answer.body().length, answer.statusCode());
                }
            }
            return "";
        }
    }

    private byte[] data(int number) {
        byte[] data = new byte[BYTES];
        new Random(salt.hashCode() + number).nextBytes(data);
        return data;
    }

    /// Puts the image into the registry.
    ImageOrder push() throws IOException, InterruptedException {
        try (var http = HttpClient.newHttpClient()) {
            var parts = new ArrayList<String>();
            var diffIds = new ArrayList<String>();
            for (int i = 0; i < LAYERS; i++) {
                byte[] layer = layer(i);
                parts.add(blob(http, "application/vnd.oci.image.layer.v1.tar", layer));
                diffIds.add("\"sha256:%s\"".formatted(BuildOrder.digest(layer)));
            }
            String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
            String config = blob(
                    http,
                    "application/vnd.oci.image.config.v1+json",
                    "{\"architecture\":\"%s\",\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]}}"
                            .formatted(processor, String.join(",", diffIds))
                            .getBytes(UTF_8));
            String manifest = "{\"schemaVersion\":2,\"mediaType\":\"%s\",\"config\":%s,\"layers\":[%s]}"
                    .formatted(MANIFEST, config, String.join(",", parts));
            require(http.send(
                    HttpRequest.newBuilder(at("manifests/1"))
                            .header("Content-Type", MANIFEST)
                            .PUT(BodyPublishers.ofString(manifest))
                            .build(),
                    BodyHandlers.ofString()));
        }
        return this;
    }

    private byte[] layer(int number) throws IOException {
        byte[] data = data(number);
        var archive = new ByteArrayOutputStream();
        var tar = new TarWriter(archive);
        tar.file(new TarWriter.Header("data" + number, 0644, 0, 0, 0), data.length, new ByteArrayInputStream(data));
        tar.finish();
        return archive.toByteArray();
    }

    /// @return how a manifest names it
    private String blob(HttpClient http, String type, byte[] bytes) throws IOException, InterruptedException {
        var begun = require(http.send(
                HttpRequest.newBuilder(at("blobs/uploads/"))
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString()));
        String place = begun.headers().firstValue("Location").orElseThrow();
        String digest = "sha256:" + BuildOrder.digest(bytes);
        require(http.send(
                HttpRequest.newBuilder(URI.create(place + (place.contains("?") ? "&" : "?") + "digest=" + digest))
                        .header("Content-Type", "application/octet-stream")
                        .PUT(BodyPublishers.ofByteArray(bytes))
                        .build(),
                BodyHandlers.ofString()));
        return "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d}".formatted(type, digest, bytes.length);
    }

    private URI at(String what) {
        return URI.create("http://%s/v2/%s/%s".formatted(registry, salt, what));
    }

    private static HttpResponse<String> require(HttpResponse<String> answer) {
        if (answer.statusCode() / 100 != 2) {
            throw new IllegalStateException(
                    "the registry answered %d: %s".formatted(answer.statusCode(), answer.body()));
        }
        return answer;
    }
}
