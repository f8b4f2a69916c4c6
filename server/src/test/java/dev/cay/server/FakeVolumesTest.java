package dev.cay.server;

import dev.cay.contract.VolumesContract;
import dev.cay.testing.Fast;
import dev.cay.wire.node.NodeVolumes;

/// The volumes that the server's tests use answer as those of a real node do.
@Fast
final class FakeVolumesTest implements VolumesContract {
    private final FakeVolumes volumes = new FakeVolumes();

    @Override
    public NodeVolumes volumes() {
        return volumes;
    }
}
