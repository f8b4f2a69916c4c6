package dev.cay.server.fleet;

import dev.cay.wire.node.Node;

/// The machines that run sandboxes. There is one for now, which has all sandboxes.
public final class Fleet {
    private final Node node;

    public Fleet(Node node) {
        this.node = node;
    }

    public Node node() {
        return node;
    }
}
