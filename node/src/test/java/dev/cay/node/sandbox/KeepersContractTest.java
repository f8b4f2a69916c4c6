package dev.cay.node.sandbox;

import dev.cay.contract.NodeContract;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.SandboxSpec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// The real node, with real sandboxes.
@NeedsRoot
final class KeepersContractTest implements NodeContract {
    private static TestNode.Place place;
    private static TestNode node;

    @BeforeAll
    static void open() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place);
    }

    @AfterAll
    static void close() throws Exception {
        try (var _ = place) {
            node.close();
        }
    }

    @Override
    public Node node() {
        return node.keepers;
    }

    @Override
    public SandboxSpec spec(String id) {
        return TestNode.spec(id);
    }
}
