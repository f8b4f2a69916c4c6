package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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

    static void await(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TestNode.LIMIT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
