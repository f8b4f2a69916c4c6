package dev.cay.wire.node;

import java.util.List;

/// A template that comes with Cay, as far as a node has it.
///
/// @param layers content keys, top first; empty until it is ready
/// @param news   how far its making is, or why it failed
public record NodeTemplate(String name, State state, List<String> layers, String news) {
    public NodeTemplate {
        layers = List.copyOf(layers);
    }

    public enum State {
        /// Nobody has asked for it here.
        ABSENT,
        BUILDING,
        READY,
        /// Asking for it again tries again.
        FAILED
    }
}
