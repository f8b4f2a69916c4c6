package dev.cay.node;

import dev.cay.life.Progress;
import dev.cay.metrics.Meters;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.HostRoutes;
import dev.cay.node.host.HostUse;
import dev.cay.node.host.Sysctls;
import dev.cay.node.network.HostNames;
import dev.cay.node.network.NetworkPool;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.storage.Pool;
import dev.cay.proxy.ReverseProxy;
import dev.cay.tls.EgressAuthority;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.HostRoots;
import dev.cay.wire.CayException;
import dev.cay.wire.CayVersion;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// What a node takes of its machine: kernel settings, the guest program, the pool, networks and containers.
final class NodeHost {
    private final NodeSettings settings;
    private final HostPlan plan;
    private final Sysctls sysctls;
    private final GuestProgram guest;
    private final Pool pool;
    private final ReverseProxy proxy;
    private final EgressPath egress;
    private final NetworkPool network;
    private final RuncRuntime runc;

    /// Refuses before it changes anything if the directories, the records or the addresses do not fit.
    NodeHost(NodeSettings settings, NodeSurroundings around, NodeVariant variant, NodeUndo undo, Progress progress)
            throws IOException {
        this.settings = settings;
        var host = settings.host();
        requirePassable("runDir", host.runDir());
        requirePassable("stateDir", host.stateDir());
        Keepers.requireKnown(host.records());
        this.plan = new HostPlan(host.instance(), host.uidBase(), host.range());
        HostRoutes.ofHost().requireFree(plan.range());
        this.sysctls = new Sysctls(HostLedger.ofHost());
        undo.onHost(() -> sysctls.leave(plan.instance()));
        raise(progress);
        this.guest = variant.guest(host.stateDir().resolve("guest"));
        progress.mark("kernel settings, guest");
        this.pool = Pool.open(host.stateDir(), host.poolSizeMB(), guest);
        undo.onHost(pool::unmount);
        progress.mark("pool");
        this.proxy = undo.add(new ReverseProxy(around.meters()));
        this.egress = undo.add(egressPath(around));
        var limits = settings.network().limits();
        this.network = undo.add(new NetworkPool(
                plan,
                limits,
                settings.network().nameservers(),
                settings.network().domain(),
                sysctls,
                egress));
        undo.onHost(network::remove);
        this.runc = new RuncRuntime(
                guest,
                host.runDir(),
                plan.cgroup(),
                limits,
                settings.limits().servers(),
                settings.limits().filling());
    }

    /// Sandboxes run as users of their own, which must be able to pass on their way to their bundles and the guest.
    private static void requirePassable(String key, Path directory) throws IOException {
        for (Path step = directory.toAbsolutePath(); step != null; step = step.getParent()) {
            if (!Files.getPosixFilePermissions(step).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "%s is %s, but users of sandboxes cannot pass %s; run `chmod o+x %s` or set another %s"
                                .formatted(key, directory, step, step, key));
            }
        }
    }

    private void raise(Progress progress) throws IOException {
        var raised = sysctls.apply();
        if (!raised.isEmpty()) {
            progress.detail("raised until the last Cay of this host is down: "
                    + raised.stream()
                            .map(change -> "%s %s (was %s)".formatted(change.name(), change.after(), change.before()))
                            .collect(Collectors.joining(", ")));
        }
    }

    private EgressPath egressPath(NodeSurroundings around) throws IOException {
        var gateway = InetAddress.ofLiteral(plan.gateway());
        var parts = new EgressPath.Surroundings(
                around.listeners(),
                proxy,
                new EgressAuthority(settings.host().stateDir().resolve("egress"), InstantSource.system()),
                HostRoots::tls);
        return new EgressPath(
                new InetSocketAddress(gateway, HostPlan.EGRESS_PORT),
                reachable(),
                settings.network().ceiling(),
                new HostNames(settings.network().nameservers(), gateway)::find,
                parts,
                InstantSource.system());
    }

    /// Where connections from sandboxes may lead, and those that the node makes for a sandbox.
    Dialer.Rules reachable() {
        return new Dialer.Rules(
                Addresses.allowing(List.of()),
                Set.copyOf(settings.network().openAddresses()),
                true,
                "network.openAddresses");
    }

    void start() {
        network.start();
        egress.start();
        proxy.start();
    }

    HostPlan plan() {
        return plan;
    }

    GuestProgram guest() {
        return guest;
    }

    Pool pool() {
        return pool;
    }

    ReverseProxy proxy() {
        return proxy;
    }

    EgressPath egress() {
        return egress;
    }

    NetworkPool network() {
        return network;
    }

    RuncRuntime runc() {
        return runc;
    }

    /// What an operator watches of this machine.
    void watch(Meters meters) {
        meters.gauge("cay_pool_size_bytes", "Size of the disk that sandboxes share", pool::size);
        meters.gauge("cay_pool_free_bytes", "Bytes of it that are free", pool::free);
        meters.gauge("cay_slots", "How many sandboxes this machine has room for", plan::capacity);
        meters.gauge("cay_slots_taken", "Slots that are taken", plan::taken);
        meters.gauges("cay_info", "This Cay", "version", () -> Map.of(CayVersion.text(), 1));
        HostUse.addTo(meters);
    }

    /// Takes all of this instance from the host.
    void leave() {
        runc.clear();
        network.remove();
        pool.unmount();
        sysctls.leave(plan.instance());
    }
}
