package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// The platform that an image must be made for.
///
/// @param architecture OCI's name
/// @param variants     variants that every such processor can run, the best first; empty text for images that name none
record Platform(String architecture, List<String> variants) {
    private static final int MOST_SHOWN = 12;

    Platform {
        variants = List.copyOf(variants);
    }

    static Platform ofHost() {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> new Platform("amd64", List.of("", "v1"));
            case "aarch64", "arm64" -> new Platform("arm64", List.of("v8", ""));
            case String other -> throw new CayException(ErrorKind.NOT_IMPLEMENTED, "no images for " + other);
        };
    }

    /// The manifest for this machine out of an index.
    Blob choose(JsonNode manifests) {
        for (String variant : variants) {
            for (var each : manifests) {
                var platform = each.path("platform");
                if (platform.path("os").asString("").equals("linux")
                        && platform.path("architecture").asString("").equals(architecture)
                        && platform.path("variant").asString("").equals(variant)) {
                    return Blob.of(each);
                }
            }
        }
        if (manifests.size() == 1 && !manifests.path(0).has("platform")) {
            return Blob.of(manifests.path(0));
        }
        throw unfit(offered(manifests));
    }

    private static Set<String> offered(JsonNode manifests) {
        var offered = new LinkedHashSet<String>();
        for (var each : manifests) {
            var platform = each.path("platform");
            String os = platform.path("os").asString("unknown");
            if (!os.equals("unknown") && offered.size() < MOST_SHOWN) {
                String variant = platform.path("variant").asString("");
                offered.add(os + "/" + platform.path("architecture").asString("unknown")
                        + (variant.isEmpty() ? "" : "/" + variant));
            }
        }
        return offered;
    }

    /// @param config of an image; one without a platform is accepted
    void require(JsonNode config) {
        String os = config.path("os").asString("linux");
        String found = config.path("architecture").asString(architecture);
        if (!os.equals("linux") || !(found.equals(architecture) || found.isEmpty())) {
            throw unfit(Set.of(os + "/" + found));
        }
    }

    private CayException unfit(Set<String> offered) {
        return BadImage.because("the image is not made for linux/%s, which this machine is; it is for %s"
                .formatted(architecture, BadImage.shown(String.join(", ", offered))));
    }
}
