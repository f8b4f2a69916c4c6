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

/// The parts of the node that build sandboxes.
///
/// @param records      directory with one folder per sandbox, for files that outlive the daemon
/// @param maxProcesses most processes and threads of a sandbox
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
