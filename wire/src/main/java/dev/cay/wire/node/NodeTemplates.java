package dev.cay.wire.node;

import java.util.List;
import java.util.function.Consumer;

/// The templates that come with Cay, which a node builds itself. Building one takes minutes, so no call waits for it: a
/// build is requested, and reported when it is ready.
public interface NodeTemplates {
    /// A node that has none.
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

    /// All templates, built or not.
    List<NodeTemplate> list();

    /// Requests a build unless the template is ready or being built; returns at once.
    NodeTemplate prepare(String name);

    /// Whether all these layers exist.
    boolean holds(List<String> layers);

    /// Adds a listener for templates that became ready. Called on a thread of the node.
    void onReady(Consumer<NodeTemplate> listener);
}
