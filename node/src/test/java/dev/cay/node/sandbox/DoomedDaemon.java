package dev.cay.node.sandbox;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.VolumeMount;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// A daemon of its own, made to be killed: it has one sandbox that runs, and is in the middle of starting another.
final class DoomedDaemon {
    /// Mounted in the first, and in the one that is half made.
    static final VolumeId VOLUME = new VolumeId("11111111-2222-4333-8444-555555555555");

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
        node.node.disk().volumes().create(VOLUME, 8 << 20);
        var mounts = List.of(new VolumeMount(VOLUME, "/data", false));
        node.keepers.create(TestNode.spec("first").withVolumes(mounts));
        node.keepers.create(TestNode.spec("second"));
        node.run("first", "echo mine > /run/e2b/.E2B_SANDBOX_ID");
        node.run("first", "echo kept > /data/file");
        node.start("first", "echo begun; sleep 600").close();
        node.keepers.create(TestNode.spec("half").withVolumes(mounts));
    }
}
