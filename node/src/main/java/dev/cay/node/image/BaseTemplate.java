package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.nio.file.Path;

/// The layer under every template: a small Debian with Python, Node and the usual tools, made on the host itself.
public final class BaseTemplate {
    /// @param logs directory for the build's log
    public BaseTemplate(LayerStore layers, Programs programs, Path logs) {}

    /// Content key of the layer: changes with the recipe, the CPU and the Debian release.
    public String key() {
        return "";
    }

    public boolean isBuilt() {
        return false;
    }

    /// Builds unless it is there.
    ///
    /// @return the layer's key
    public String build(BuildProgress progress) {
        return key();
    }
}
