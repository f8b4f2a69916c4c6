package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/// One repository of a registry or of its mirror, by the protocol of Docker's registries (OCI distribution).
///
/// A failure that a retry may fix is an `IOException`; any other is a `CayException`.
final class Registry {
    private static final String MANIFESTS = String.join(
            ", ", Manifests.OCI_MANIFEST, Manifests.OCI_INDEX, Manifests.DOCKER_MANIFEST, Manifests.DOCKER_LIST);
    private static final int MOST_TRIES = 3;

    private final RegistryHttp http;
    private final URI base;
    private final String repository;
    private final RegistryCredentials credentials;
    private final RegistryAuth auth;

    Registry(RegistryHttp http, URI base, String repository, RegistryCredentials credentials) {
        this.http = http;
        this.base = base;
        this.repository = repository;
        this.credentials = credentials;
        this.auth = new RegistryAuth(http, base, repository, credentials, "pull");
    }

    String host() {
        return base.getAuthority();
    }

    /// @param wanted tag or digest; the caller verifies a digest
    Document manifest(String wanted) throws IOException {
        try (var answer = request("manifests/" + wanted, Map.of("Accept", MANIFESTS))) {
            return new Document(answer.header("Content-Type"), answer.read(Manifests.LONGEST, "a manifest"));
        }
    }

    /// A manifest or an index of them, as it was sent.
    record Document(String mediaType, byte[] bytes) {}

    /// The bytes of a blob from a position. The registry may send all of them (200) or these only (206).
    HttpAnswer blob(Digest digest, long from) throws IOException {
        return request("blobs/" + digest, from == 0 ? Map.of() : Map.of("Range", "bytes=%d-".formatted(from)));
    }

    private HttpAnswer request(String path, Map<String, String> headers) throws IOException {
        var uri = base.resolve("/v2/" + repository + "/" + path);
        for (int tries = 1; ; tries++) {
            var all = new HashMap<>(headers);
            String shown = auth.header();
            if (!shown.isEmpty()) {
                all.put("Authorization", shown);
            }
            var answer = http.get(uri, all);
            if (answer.status() == 200 || answer.status() == 206) {
                return answer;
            }
            try (answer) {
                boolean asked = answer.status() == 401 && answer.from().equals(uri);
                if (!asked
                        || tries == MOST_TRIES
                        || !auth.answer(answer.headers().allValues("WWW-Authenticate"), shown)) {
                    throw failure(answer.status(), path);
                }
            }
        }
    }

    private RuntimeException failure(int status, String path) throws IOException {
        return switch (status) {
            case 401, 403 -> RegistryAuth.refused(host(), credentials);
            case 404 ->
                new CayException(
                        ErrorKind.NOT_FOUND,
                        path.startsWith("manifests/")
                                ? "the registry %s has no image %s:%s"
                                        .formatted(host(), repository, path.substring("manifests/".length()))
                                : "the registry %s does not have a part of image %s: %s"
                                        .formatted(host(), repository, path.substring("blobs/".length())));
            case 416 -> BadImage.because("%s has fewer bytes of %s than the manifest says".formatted(host(), path));
            default -> throw new IOException("the registry %s answers %d".formatted(host(), status));
        };
    }
}
