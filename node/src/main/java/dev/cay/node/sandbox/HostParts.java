package dev.cay.node.sandbox;

import dev.cay.node.fuse.FuseMounter;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.host.HostPlan;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.network.NetworkPool;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.storage.Pool;
import java.nio.file.Path;
import java.time.InstantSource;

/// What sandboxes of this machine are made of.
///
/// @param records      directory with one folder per sandbox, for what must outlive the daemon
/// @param maxProcesses how many processes and threads a sandbox may have
public record HostParts(
        HostPlan plan,
        HostCapacity capacity,
        Path records,
        int maxProcesses,
        Pool pool,
        LayerStore layers,
        NodeLayer nodeLayer,
        NetworkPool network,
        ContainerRuntime runtime,
        FuseMounter fuse,
        InstantSource clock) {}
