package dev.cay.node.image.oci;

import tools.jackson.databind.JsonNode;

/// A manifest's description of a blob.
///
/// @param size in bytes
record Blob(String mediaType, Digest digest, long size) {
    static Blob of(JsonNode json) {
        long size = json.path("size").asLong(-1);
        if (size < 0) {
            throw BadImage.because("the image's manifest has a part without a size");
        }
        return new Blob(
                json.path("mediaType").asString(""),
                Digest.parse(json.path("digest").asString("")),
                size);
    }
}
