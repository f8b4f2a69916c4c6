package dev.cay.node.sandbox;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerSpec;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/// A daemon of its own, made to be killed: it has one sandbox that runs, and is in the middle of starting another.
final class DoomedDaemon {
    private DoomedDaemon() {}

    /// Arguments: directory, instance and range of the place.
    public static void main(String[] args) throws Exception {
        var place = TestNode.Place.reserved(Path.of(args[0]), args[1]);
        var never = new CountDownLatch(1);
        var node = new TestNode(
                place,
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public Container start(ContainerSpec spec) {
                        var container = super.start(spec);
                        if (spec.id().value().equals("half")) {
                            System.out.println("half made");
                            try {
                                never.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        }
                        return container;
                    }
                },
                TestNode.EDGE_PORT);
        node.keepers.create(TestNode.spec("first"));
        node.keepers.create(TestNode.spec("second"));
        node.run("first", "echo mine > /run/e2b/.E2B_SANDBOX_ID");
        node.start("first", "echo begun; sleep 600").close();
        node.keepers.create(TestNode.spec("half"));
    }
}
