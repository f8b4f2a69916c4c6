package dev.cay.node.image;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The small layer on top of every template: what depends on this node, namely names and whom to trust.
public final class NodeLayer {
    /// @param gateway   address that answers DNS inside
    /// @param authority PEM file of Cay's own CA
    /// @param operatorCertificates directory of `.crt` files to trust too, `/usr/local/share/ca-certificates`; null
    ///                  when the operator does not want that
    public NodeLayer(LayerStore layers, String gateway, Path authority, @Nullable Path operatorCertificates) {}

    /// Builds unless it is there; takes milliseconds.
    ///
    /// @param templateKey layer whose certificate bundle ours extends
    /// @return the layer's key
    public String require(String templateKey) {
        return templateKey;
    }
}
