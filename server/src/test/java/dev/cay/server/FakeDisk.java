package dev.cay.server;

import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.SandboxKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Remembers what it was asked, and removes two things.
final class FakeDisk implements NodeDisk {
    final List<String> calls = new ArrayList<>();
    volatile Collection<SandboxKind> named = List.of();
    volatile CountDownLatch go = new CountDownLatch(0);
    volatile RuntimeException failure;

    volatile NodeVolumes volumes = NodeVolumes.NONE;

    @Override
    public NodeVolumes volumes() {
        return volumes;
    }

    @Override
    public void keep(Collection<SandboxKind> kinds) {
        named = kinds;
    }

    @Override
    public void collect(
            Supplier<Collection<SandboxKind>> kinds, Duration unusedFor, boolean dryRun, Consumer<Removed> told) {
        named = kinds.get();
        calls.add((dryRun ? "dry " : "") + unusedFor);
        told.accept(new Removed("layer", "step-1", 1000));
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        if (failure != null) {
            throw failure;
        }
        told.accept(new Removed("layer", "step-2", 500));
    }
}
