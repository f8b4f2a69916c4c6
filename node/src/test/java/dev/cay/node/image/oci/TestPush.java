package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/// Pushes images to a registry on loopback.
final class TestPush implements AutoCloseable {
    private final HttpClient client = HttpClient.newHttpClient();
    private final String host;
    private final String authorization;

    /// @param authorization header; empty for none
    TestPush(String host, String authorization) {
        this.host = host;
        this.authorization = authorization;
    }

    void image(String repository, String tag, TestImage image) throws Exception {
        for (byte[] layer : image.layers) {
            blob(repository, layer);
        }
        blob(repository, image.config());
        manifest(repository, tag, image.mediaType, image.manifest());
    }

    void manifest(String repository, String reference, String mediaType, byte[] bytes) throws Exception {
        var answer = send(request("http://%s/v2/%s/manifests/%s".formatted(host, repository, reference))
                .header("Content-Type", mediaType)
                .PUT(BodyPublishers.ofByteArray(bytes)));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    }

    void blob(String repository, byte[] bytes) throws Exception {
        var begun = send(request("http://%s/v2/%s/blobs/uploads/".formatted(host, repository))
                .POST(BodyPublishers.noBody()));
        assertThat(begun.statusCode()).as(begun.body()).isEqualTo(202);
        String place = begun.headers().firstValue("Location").orElseThrow();
        var done = send(request(place + (place.contains("?") ? "&" : "?") + "digest=" + Digest.of(bytes))
                .header("Content-Type", "application/octet-stream")
                .PUT(BodyPublishers.ofByteArray(bytes)));
        assertThat(done.statusCode()).as(done.body()).isEqualTo(201);
    }

    private HttpRequest.Builder request(String uri) {
        var request = HttpRequest.newBuilder(URI.create(uri));
        return authorization.isEmpty() ? request : request.header("Authorization", authorization);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @Override
    public void close() {
        client.close();
    }
}
