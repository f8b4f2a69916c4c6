package dev.cay.node.image.oci;

import java.util.ArrayList;
import java.util.List;

/// The layers of an image, the lowest first, with their digests.
///
/// @param digest  of the manifest
/// @param layers  compressed, as the manifest names them
/// @param diffIds digests of the same layers uncompressed
record ImagePlan(Digest digest, ImageConfig config, List<Blob> layers, List<Digest> diffIds) {
    /// Counts up when the same archives make other directories.
    private static final String KEY = "oci1-";

    ImagePlan {
        layers = List.copyOf(layers);
        diffIds = List.copyOf(diffIds);
        if (layers.size() != diffIds.size()) {
            throw BadImage.because("the image has %d layers, and its configuration speaks of %d"
                    .formatted(layers.size(), diffIds.size()));
        }
    }

    /// Keys of the layers in the store, the lowest first. Each depends on all layers below, as the chain id of OCI.
    List<String> keys() {
        var keys = new ArrayList<String>();
        Digest chain = null;
        for (var diffId : diffIds) {
            chain = chain == null ? diffId : Digest.of(chain + " " + diffId);
            keys.add(KEY + chain.hex());
        }
        return keys;
    }
}
