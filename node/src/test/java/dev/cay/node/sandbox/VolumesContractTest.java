package dev.cay.node.sandbox;

import dev.cay.contract.VolumesContract;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.NodeVolumes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// Volumes of a real node, on btrfs.
@NeedsRoot
final class VolumesContractTest implements VolumesContract {
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
    public NodeVolumes volumes() {
        return node.node.disk().volumes();
    }
}
