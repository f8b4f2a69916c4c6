package dev.cay.node.sandbox;

import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.node.runtime.Fill;
import dev.cay.node.runtime.Usage;
import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The real runtime, for tests that put something between.
class RuntimeAround implements ContainerRuntime {
    private final ContainerRuntime real;

    RuntimeAround(ContainerRuntime real) {
        this.real = real;
    }

    @Override
    public Container start(ContainerSpec spec) {
        return real.start(spec);
    }

    @Override
    public Optional<Container> find(SandboxId id) {
        return real.find(id);
    }

    @Override
    public List<SandboxId> list() {
        return real.list();
    }

    @Override
    public void kill(SandboxId id) {
        real.kill(id);
    }

    @Override
    public void delete(SandboxId id) {
        real.delete(id);
    }

    @Override
    public void freeze(SandboxId id) {
        real.freeze(id);
    }

    @Override
    public void thaw(SandboxId id) {
        real.thaw(id);
    }

    @Override
    public void checkpoint(SandboxId id, Path images, After after) {
        real.checkpoint(id, images, after);
    }

    @Override
    public void allowSwap(SandboxId id) {
        real.allowSwap(id);
    }

    @Override
    public void pushOut(SandboxId id) {
        real.pushOut(id);
    }

    @Override
    public void giveUpCheckpoint(SandboxId id) {
        real.giveUpCheckpoint(id);
    }

    @Override
    public Container restore(ContainerSpec spec, Path images, String guest) {
        return real.restore(spec, images, guest);
    }

    @Override
    public boolean fills(Path images) {
        return real.fills(images);
    }

    @Override
    public Container restoreLazily(ContainerSpec spec, Path images, String guest, Optional<Path> first) {
        return real.restoreLazily(spec, images, guest, first);
    }

    @Override
    public Fill fill(SandboxId id) {
        return real.fill(id);
    }

    @Override
    public String guest(SandboxId id) {
        return real.guest(id);
    }

    @Override
    public void requireSavable(SandboxId id) {
        real.requireSavable(id);
    }

    @Override
    public Optional<Container> stay(SandboxId id) {
        return real.stay(id);
    }

    @Override
    public Optional<Container> goOn(SandboxId id) {
        return real.goOn(id);
    }

    @Override
    public void settle(SandboxId id) {
        real.settle(id);
    }

    @Override
    public long memoryKills(SandboxId id) {
        return real.memoryKills(id);
    }

    @Override
    public Map<String, Long> serverMemoryKills(SandboxId owner) {
        return real.serverMemoryKills(owner);
    }

    @Override
    public Usage usage(Container container) {
        return real.usage(container);
    }
}
