package dev.cay.node.image.oci;

import dev.cay.http.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// An image that a test makes: layers, a configuration and a manifest, with all their digests.
final class TestImage {
    static final String LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
    static final String CONFIG = "application/vnd.oci.image.config.v1+json";

    final List<byte[]> layers = new ArrayList<>();
    final List<Digest> diffIds = new ArrayList<>();
    final Map<String, Object> settings = new LinkedHashMap<>();
    String architecture = Platform.ofHost().architecture();
    String mediaType = Manifests.OCI_MANIFEST;

    TestImage layer(TestTar tar) {
        return layer(tar.tar(), tar.gzip());
    }

    TestImage layer(byte[] tar, byte[] compressed) {
        diffIds.add(Digest.of(tar));
        layers.add(compressed);
        return this;
    }

    TestImage set(String key, Object value) {
        settings.put(key, value);
        return this;
    }

    byte[] config() {
        return Json.write(Map.of(
                "os",
                "linux",
                "architecture",
                architecture,
                "config",
                settings,
                "rootfs",
                Map.of(
                        "type",
                        "layers",
                        "diff_ids",
                        diffIds.stream().map(Digest::toString).toList())));
    }

    byte[] manifest() {
        boolean docker = mediaType.equals(Manifests.DOCKER_MANIFEST);
        String layerType = docker ? "application/vnd.docker.image.rootfs.diff.tar.gzip" : LAYER;
        return Json.write(Map.of(
                "schemaVersion",
                2,
                "mediaType",
                mediaType,
                "config",
                blob(docker ? "application/vnd.docker.container.image.v1+json" : CONFIG, config()),
                "layers",
                layers.stream().map(layer -> blob(layerType, layer)).toList()));
    }

    static Map<String, Object> blob(String mediaType, byte[] bytes) {
        return Map.of("mediaType", mediaType, "digest", Digest.of(bytes).toString(), "size", bytes.length);
    }

    /// An index of images by `architecture` or `architecture/variant`.
    static byte[] index(Map<String, TestImage> images) {
        var manifests = new ArrayList<Map<String, Object>>();
        images.forEach((platform, image) -> {
            var entry = new LinkedHashMap<>(blob(image.mediaType, image.manifest()));
            var parts = new LinkedHashMap<String, String>();
            parts.put("os", "linux");
            parts.put("architecture", platform.split("/")[0]);
            if (platform.contains("/")) {
                parts.put("variant", platform.split("/")[1]);
            }
            entry.put("platform", parts);
            manifests.add(entry);
        });
        return Json.write(Map.of("schemaVersion", 2, "mediaType", Manifests.OCI_INDEX, "manifests", manifests));
    }
}
