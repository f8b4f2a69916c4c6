package dev.cay.server.fleet;

import dev.cay.wire.node.Node;

/// The machines sandboxes run on. One for now: whoever asks where a sandbox is or may go gets that one.
public final class Fleet {
    private final Node node;

    public Fleet(Node node) {
        this.node = node;
    }

    public Node node() {
        return node;
    }
}
