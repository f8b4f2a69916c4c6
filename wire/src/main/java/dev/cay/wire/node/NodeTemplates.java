package dev.cay.wire.node;

import java.util.List;
import java.util.function.Consumer;

/// The templates that come with Cay, which a node makes itself. Making one takes minutes, so nobody waits for it in a
/// call: it is asked for, and told of when it is ready.
public interface NodeTemplates {
    /// Of one that has none.
    NodeTemplates NONE = new NodeTemplates() {
        @Override
        public List<NodeTemplate> list() {
            return List.of();
        }

        @Override
        public NodeTemplate prepare(String name) {
            return new NodeTemplate(name, 0, null, NodeTemplate.State.ABSENT, List.of(), "");
        }

        @Override
        public boolean holds(List<String> layers) {
            return true;
        }

        @Override
        public void onReady(Consumer<NodeTemplate> listener) {}
    };

    /// All there are, made or not.
    List<NodeTemplate> list();

    /// Has it made unless it is ready or being made; returns at once.
    NodeTemplate prepare(String name);

    /// Whether all these layers are there.
    boolean holds(List<String> layers);

    /// Tells of templates that became ready. Called on a thread of the node.
    void onReady(Consumer<NodeTemplate> listener);
}
