package dev.cay.node.runtime;

import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Containers by runc.
public final class RuncRuntime implements ContainerRuntime {
    /// @param runDir       what does not outlive a reboot; every user must be able to pass through it
    /// @param cgroupParent absolute, like `/cay-main`; see {@link dev.cay.node.host.HostPlan#cgroup}
    public RuncRuntime(GuestProgram guest, Path runDir, String cgroupParent) {}

    @Override
    public Container start(ContainerSpec spec) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Container> find(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<SandboxId> list() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void kill(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void delete(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void freeze(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void thaw(SandboxId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void checkpoint(SandboxId id, Path images, After after) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Container restore(ContainerSpec spec, Path images) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Usage usage(Container container) {
        throw new UnsupportedOperationException();
    }
}
