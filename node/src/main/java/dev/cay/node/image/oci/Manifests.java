package dev.cay.node.image.oci;

import dev.cay.http.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Reads manifests, indexes of manifests and configurations, in the forms of OCI and of Docker.
final class Manifests {
    static final String OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
    static final String OCI_INDEX = "application/vnd.oci.image.index.v1+json";
    static final String DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
    static final String DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";

    /// Most bytes of a manifest or an index.
    static final int LONGEST = 4 << 20;

    private static final int MOST_LAYERS = 512;
    private static final int LONGEST_CONFIG = 8 << 20;
    private static final int MOST_NESTED = 3;
    private static final String OCI_LAYER = "application/vnd.oci.image.layer.";
    private static final Set<String> DOCKER_LAYERS = Set.of(
            "application/vnd.docker.image.rootfs.diff.tar",
            "application/vnd.docker.image.rootfs.diff.tar.gzip",
            "application/vnd.docker.image.rootfs.diff.tar.zstd",
            "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip");

    /// Fetches what a manifest names, and checks size and digest.
    interface Parts {
        byte[] manifest(Blob blob) throws IOException;

        byte[] config(Blob blob) throws IOException;
    }

    private final Parts parts;

    Manifests(Parts parts) {
        this.parts = parts;
    }

    /// @param document  a manifest or an index
    /// @param mediaType its declared type
    ImagePlan plan(byte[] document, String mediaType) throws IOException {
        byte[] bytes = document;
        for (int nested = 0; nested < MOST_NESTED; nested++) {
            var json = parse(bytes, "manifest");
            String type = json.path("mediaType").asString(mediaType);
            if (json.path("manifests").isArray() && !json.has("layers")) {
                var chosen = Platform.ofHost().choose(json.path("manifests"));
                requireSmall(chosen, LONGEST);
                bytes = parts.manifest(chosen);
            } else {
                return plan(json, type, Digest.of(bytes));
            }
        }
        throw BadImage.because("the image's indexes are nested too deeply");
    }

    private ImagePlan plan(JsonNode manifest, String type, Digest digest) throws IOException {
        if (manifest.path("schemaVersion").asInt(0) != 2
                || !manifest.path("layers").isArray()) {
            throw BadImage.because(
                    "the image has a manifest of a form that is not supported: %s".formatted(BadImage.shown(type)));
        }
        var layers = new ArrayList<Blob>();
        for (var each : manifest.path("layers")) {
            var layer = Blob.of(each);
            if (!layer.mediaType().startsWith(OCI_LAYER) && !DOCKER_LAYERS.contains(layer.mediaType())) {
                throw BadImage.because("the image has a layer of a type that is not supported: %s"
                        .formatted(BadImage.shown(layer.mediaType())));
            }
            layers.add(layer);
            requireFew(layers.size());
        }
        var config = Blob.of(manifest.path("config"));
        requireSmall(config, LONGEST_CONFIG);
        return plan(parts.config(config), layers, digest);
    }

    static ImagePlan plan(byte[] config, List<Blob> layers, Digest digest) {
        requireFew(layers.size());
        var json = parse(config, "configuration");
        Platform.ofHost().require(json);
        var diffIds = new ArrayList<Digest>();
        for (var each : json.path("rootfs").path("diff_ids")) {
            diffIds.add(Digest.parse(each.asString("")));
            requireFew(diffIds.size());
        }
        return new ImagePlan(digest, ImageConfig.of(json), layers, diffIds);
    }

    static JsonNode parse(byte[] bytes, String what) {
        try {
            return Json.mapper().readTree(bytes);
        } catch (JacksonException e) {
            throw BadImage.because("the image's %s is no JSON".formatted(what), e);
        }
    }

    private static void requireSmall(Blob blob, int most) {
        if (blob.size() > most) {
            throw BadImage.because("the image has a manifest or a configuration of %,d bytes; the limit is %,d"
                    .formatted(blob.size(), most));
        }
    }

    private static void requireFew(int layers) {
        if (layers > MOST_LAYERS) {
            throw BadImage.because("the image has more than %d layers".formatted(MOST_LAYERS));
        }
    }
}
