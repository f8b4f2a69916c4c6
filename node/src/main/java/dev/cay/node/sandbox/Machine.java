package dev.cay.node.sandbox;

import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.metrics.Meters;
import dev.cay.node.files.WatchHub;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.network.NetworkPool;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.process.Workers;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;
import dev.cay.node.storage.Pool;
import dev.cay.proxy.ReverseProxy;
import java.nio.file.Path;
import java.time.InstantSource;
import javax.net.ssl.SSLContext;

/// The parts of this machine that every sandbox shares.
///
/// @param records      directory with one folder per sandbox, for what must outlive the daemon
/// @param maxProcesses how many processes and threads a sandbox may have
/// @param mostSpares   how many sandboxes of one kind may be started in advance
/// @param servers      what side sandboxes of one sandbox may use
/// @param warm         what sandboxes with an interpreter go on from
/// @param sealed       memory that must not be readable on a disk
/// @param hops         threads that enter other network namespaces
/// @param fileWork     threads for files of sandboxes
/// @param watching     tells of changes in files of sandboxes
/// @param edgePort     where the edge is also found inside every sandbox: many programs send `*.localhost` to loopback
///                     without asking anybody
/// @param edge         answers there
/// @param tls          shown there
public record Machine(
        HostPlan plan,
        HostCapacity room,
        Path records,
        int maxProcesses,
        int mostSpares,
        ServerLimits servers,
        Pool pool,
        LayerStore layers,
        NodeLayer nodeLayer,
        NetworkPool network,
        ContainerRuntime runtime,
        Snapshots snapshots,
        WarmSnapshots warm,
        SealedImages sealed,
        FdPoller poller,
        HostThreads hops,
        HostThreads fileWork,
        WatchHub watching,
        Workers processWorkers,
        ProcessTable.Settings processes,
        HttpListeners listeners,
        ReverseProxy proxy,
        int edgePort,
        SSLContext tls,
        Handler edge,
        InstantSource clock,
        LogHub logs,
        Gateways gateways,
        Meters meters) {}
