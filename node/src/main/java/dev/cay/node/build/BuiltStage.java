package dev.cay.node.build;

import dev.cay.dockerfile.StageState;
import java.util.List;

/// A stage of a Dockerfile that is done, or an image: files and configuration.
///
/// @param layers content keys, top first
record BuiltStage(List<String> layers, StageState state) {
    BuiltStage {
        layers = List.copyOf(layers);
    }
}
