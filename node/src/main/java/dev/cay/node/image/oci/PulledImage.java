package dev.cay.node.image.oci;

import java.util.List;

/// An image whose layers are in the layer store.
///
/// @param layerKeys the topmost first
/// @param digest    of the manifest for this machine; of the configuration for an archive without manifest
public record PulledImage(List<String> layerKeys, ImageConfig config, Digest digest) {
    public PulledImage {
        layerKeys = List.copyOf(layerKeys);
    }
}
