package dev.cay.node.sandbox;

import dev.cay.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/// A test with a node of its own: real runc, btrfs, nftables and guests; needs root.
@Timeout(240)
abstract class NodeTest {
    TestNode.Place place;
    TestNode node;

    @BeforeEach
    final void open() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place);
    }

    @AfterEach
    final void close() throws Exception {
        try (var _ = place) {
            node.close();
        }
    }

    /// Like {@link Await#until}; the failure names the line of the test.
    static void await(Await.Condition condition) {
        var line = StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst());
        Await.until("the condition at %s".formatted(line.orElseThrow().toStackTraceElement()), condition);
    }
}
