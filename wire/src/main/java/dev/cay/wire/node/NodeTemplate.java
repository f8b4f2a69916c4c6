package dev.cay.wire.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A template that comes with Cay, as far as a node has it.
///
/// @param memoryMB what its sandboxes have at least
/// @param start    what its sandboxes have running; null for nothing
/// @param layers   content keys, top first; empty until it is ready
/// @param news     how far its making is, or why it failed
public record NodeTemplate(
        String name, int memoryMB, @Nullable StartCommand start, State state, List<String> layers, String news) {
    public NodeTemplate {
        layers = List.copyOf(layers);
    }

    public NodeTemplate in(State next, String told) {
        return new NodeTemplate(name, memoryMB, start, next, List.of(), told);
    }

    public NodeTemplate ready(List<String> made) {
        return new NodeTemplate(name, memoryMB, start, State.READY, made, "");
    }

    public enum State {
        /// It was not requested on this machine.
        ABSENT,
        BUILDING,
        READY,
        /// Asking for it again tries again.
        FAILED
    }
}
