package dev.cay.node.image.oci;

import dev.cay.node.image.BuildProgress;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// Sends the image of an archive to a repository of a registry, by the protocol of Docker's registries (OCI
/// distribution). What the registry has already is not sent again.
final class RegistryPush {
    private static final int LONGEST_DOCUMENT = 8 << 20;
    private static final int MOST_TRIES = 3;

    private final RegistryHttp http;
    private final URI base;
    private final ImageReference to;
    private final RegistryCredentials credentials;
    private final RegistryAuth auth;
    private final RegistrySettings settings;

    RegistryPush(RegistryHttp http, ImageReference to, RegistryCredentials credentials, RegistrySettings settings) {
        this.http = http;
        this.base = settings.base(to.registry());
        this.to = to;
        this.credentials = credentials;
        this.settings = settings;
        this.auth = new RegistryAuth(http, base, to.repository(), credentials, "pull,push");
    }

    /// @return the digest by which the registry knows the image
    Digest push(ArchiveFiles files, BuildProgress progress) throws IOException {
        var index = Manifests.parse(require(files, "index.json"), "index");
        var manifest = Blob.of(index.path("manifests").path(0));
        byte[] document = require(files, place(manifest));
        var json = Manifests.parse(document, "manifest");
        var blobs = new ArrayList<>(List.of(Blob.of(json.path("config"))));
        json.path("layers").forEach(layer -> blobs.add(Blob.of(layer)));
        long all = blobs.stream().mapToLong(Blob::size).sum();
        long sent = 0;
        for (var blob : blobs) {
            progress.at("sending", "%s, %,d MB".formatted(blob.digest(), blob.size() >> 20), (double) sent / all);
            send(files, blob);
            sent += blob.size();
        }
        try (var answer = request(
                "PUT",
                uri("manifests/" + to.tag()),
                Map.of("Content-Type", Manifests.OCI_MANIFEST),
                () -> BodyPublishers.ofByteArray(document),
                settings.answer())) {
            require(answer, 201, "the manifest");
        }
        return manifest.digest();
    }

    private static byte[] require(ArchiveFiles files, String name) throws IOException {
        byte[] bytes = files.read(name, LONGEST_DOCUMENT);
        if (bytes == null) {
            throw BadImage.because("the image archive has no file %s".formatted(BadImage.shown(name)));
        }
        return bytes;
    }

    private static String place(Blob blob) {
        return ImageArchive.BLOBS + blob.digest().hex();
    }

    private void send(ArchiveFiles files, Blob blob) throws IOException {
        try (var there =
                request("HEAD", uri("blobs/" + blob.digest()), Map.of(), BodyPublishers::noBody, settings.answer())) {
            if (there.status() == 200) {
                return;
            }
        }
        URI place;
        try (var begun = request("POST", uri("blobs/uploads/"), Map.of(), BodyPublishers::noBody, settings.answer())) {
            require(begun, 202, "the begin of a layer");
            place = http.requireAllowed(begun.from().resolve(begun.header("Location")), base);
        }
        String query = (place.getRawQuery() == null ? "?" : "&") + "digest=" + blob.digest();
        try (var answer = request(
                "PUT",
                URI.create(place + query),
                Map.of("Content-Type", "application/octet-stream"),
                () -> content(files, blob),
                settings.whole())) {
            require(answer, 201, "a layer");
        }
    }

    private static BodyPublisher content(ArchiveFiles files, Blob blob) {
        Supplier<InputStream> open = () -> {
            try {
                return files.require(place(blob));
            } catch (IOException e) {
                throw new CayException(ErrorKind.FAILED, "the image archive cannot be read: " + e.getMessage(), e);
            }
        };
        return BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(open), blob.size());
    }

    /// Sends a request, with credentials when the registry asks. They go to the registry's own address only.
    private HttpAnswer request(
            String method, URI uri, Map<String, String> headers, Supplier<BodyPublisher> body, Duration limit)
            throws IOException {
        for (int tries = 1; ; tries++) {
            var all = new HashMap<>(headers);
            String shown = auth.header();
            if (!shown.isEmpty() && base.getAuthority().equals(uri.getAuthority())) {
                all.put("Authorization", shown);
            }
            var answer = http.send(method, uri, all, body.get(), limit);
            if (answer.status() != 401 && answer.status() != 403) {
                return answer;
            }
            try (answer) {
                if (answer.status() == 403
                        || tries == MOST_TRIES
                        || !auth.answer(answer.headers().allValues("WWW-Authenticate"), shown)) {
                    throw RegistryAuth.refused(base.getAuthority(), credentials);
                }
            }
        }
    }

    private URI uri(String path) {
        return base.resolve("/v2/" + to.repository() + "/" + path);
    }

    private void require(HttpAnswer answer, int status, String what) throws IOException {
        if (answer.status() != status) {
            String said = new String(answer.body().readNBytes(500), StandardCharsets.UTF_8);
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the registry %s did not take %s: it answers %d %s"
                            .formatted(base.getAuthority(), what, answer.status(), BadImage.shown(said)));
        }
    }
}
