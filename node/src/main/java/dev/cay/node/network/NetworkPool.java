package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.node.host.Sysctls;
import dev.cay.node.linux.NetfilterLog;
import dev.cay.web.Addresses;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Owns the host's side of all sandboxes' networking: firewall, gateway address, names. Thread-safe.
///
/// Sandboxes outlive the daemon, so {@link #close} only stops answering DNS; the rules that hold sandboxes back stay
/// until {@link #remove}.
public final class NetworkPool implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int DNS = 53;

    private final HostPlan plan;
    private final Sysctls sysctls;
    private final HostLinks links;
    private final Firewall firewall;
    private final ForeignFirewalls foreign;
    private final DnsForwarder dns;
    private final RefusedPackets refused;
    private final PathRules path;

    /// Rules of sandboxes that have some, by link.
    private final Map<String, Egress> ruled = new ConcurrentHashMap<>();

    private final SandboxAddresses addresses = new SandboxAddresses();

    /// Set by {@link #close}: rules that are loaded later would outlive the daemon, as nobody would remove them.
    private boolean closed;

    /// @param nameservers servers that DNS queries are forwarded to; empty means those of the host
    /// @param domain      that host names of sandboxes end in, without a port
    /// @param path        handles TCP of sandboxes whose rules the kernel alone cannot enforce
    public NetworkPool(
            HostPlan plan,
            NetworkLimits limits,
            List<String> nameservers,
            String domain,
            Sysctls sysctls,
            PathRules path) {
        this.path = path;
        this.plan = plan;
        this.sysctls = sysctls;
        var programs = Programs.ofHost();
        this.links = new HostLinks(plan, programs);
        this.firewall = new Firewall(plan, limits, programs);
        this.refused = new RefusedPackets(EgressTable.group(plan), this::note);
        this.foreign = new ForeignFirewalls(plan, programs);
        var gateway = new InetSocketAddress(InetAddress.ofLiteral(plan.gateway()), DNS);
        this.dns = new DnsForwarder(
                gateway,
                new NameServers(new Resolvers(nameservers, gateway.getAddress())),
                new NameRules(limits, domain));
    }

    /// Sets who knows the owners of sandboxes: teams share what is limited for all.
    public void ownedBy(SandboxOwners known) {
        addresses.ownedBy(known);
    }

    /// Loads the rules, adds the gateway address to the host and starts to answer DNS. Existing sandboxes keep their
    /// internet access.
    public void start() {
        firewall.load();
        foreign.makeWay();
        // On lo, as not every kernel has dummy links; scope link, so that the host never uses it as its own source.
        Programs.ofHost()
                .require(LIMIT, "ip", "address", "replace", plan.gateway() + "/32", "dev", "lo", "scope", "link");
        sysctls.forward();
        dns.start();
        refused.start();
    }

    private void note(NetfilterLog.Packet packet) {
        addresses
                .find(packet.source())
                .ifPresent(id -> path.refused(id, protocol(packet.protocol()), packet.destination(), packet.port()));
    }

    private static String protocol(int number) {
        return switch (number) {
            case 1 -> "icmp";
            case 6 -> "tcp";
            case 17 -> "udp";
            default -> "ip-" + number;
        };
    }

    /// Prepares the firewall for the link of a sandbox that is about to start, or adopts a running one. Call it before
    /// the hook makes the link.
    public void attach(SandboxId id, Slot slot, Egress egress) {
        addresses.put(id, slot);
        setEgress(id, slot, egress);
    }

    /// Acts at once, also on connections that are open. The path has the rules before the kernel leads anything
    /// to it, and until nothing is led to it any more.
    public void setEgress(SandboxId id, Slot slot, Egress egress) {
        if (egress.takesPath()) {
            path.put(id, InetAddress.ofLiteral(slot.address()), egress);
        }
        firewall.setEgress(slot, egress);
        if (!egress.takesPath()) {
            path.remove(id);
        }
        if (firewall.hasRules(slot.veth())) {
            ruled.put(slot.veth(), egress);
        } else {
            ruled.remove(slot.veth());
        }
    }

    /// Removes the host's end of the link and its rules; the slot may be released afterwards.
    ///
    /// The link is first: a sandbox that has not ended completely must not get access back when its rules are
    /// removed.
    public void detach(SandboxId id, Slot slot) {
        links.delete(slot.veth());
        setEgress(id, slot, Egress.open());
        addresses.remove(id, slot);
    }

    /// Names of interfaces of this instance which none of these slots claims: leftovers of a crash.
    public List<String> orphans(Collection<Slot> claimed) {
        return links.others(claimed.stream().map(Slot::veth).collect(Collectors.toSet()));
    }

    /// Removes links without a sandbox. Call this only while none is created: a slot of a new sandbox could be that of
    /// an orphan.
    public void removeOrphans(Collection<Slot> claimed) {
        orphans(claimed).forEach(links::delete);
        var veths = claimed.stream().map(Slot::veth).collect(Collectors.toSet());
        firewall.forgetOthers(veths);
        ruled.keySet().retainAll(veths);
        // Of the instance's range only the gateway's address is on the host.
        links.removeAddresses(plan.gateway());
    }

    /// Removes one, unless its slot has been taken since.
    public void removeOrphan(String veth) {
        plan.withFree(veth, () -> links.delete(veth));
    }

    /// Repairs what other programs did to the rules: a firewall that was started later may stop sandboxes' packets, and
    /// some programs flush the tables of all others.
    public synchronized void heal() {
        if (closed) {
            return;
        }
        firewall.putBack();
        foreign.makeWay();
        sysctls.forward();
    }

    @Override
    public synchronized void close() {
        closed = true;
        dns.close();
        refused.close();
    }

    /// Takes everything of this instance from the host, rules included. Only when no sandbox runs.
    public synchronized void remove() {
        close();
        removeOrphans(List.of());
        Programs.ofHost().run(LIMIT, "ip", "address", "delete", plan.gateway() + "/32", "dev", "lo");
        foreign.withdraw();
        firewall.remove();
    }

    /// The DNS permission of a client. A sandbox without internet access gets no names, because queries can carry data
    /// out; nor does one that may reach only addresses. A sandbox whose rules were not read yet after a restart is
    /// treated like that.
    private DnsForwarder.Standing standing(InetAddress client) {
        if (!(client instanceof Inet4Address address) || !plan.isSandbox(address)) {
            return DnsForwarder.Standing.STRANGER;
        }
        String veth = plan.veth(address);
        if (firewall.isBarred(veth)) {
            return DnsForwarder.Standing.LOCAL_NAMES_ONLY;
        }
        if (!firewall.hasRules(veth)) {
            return DnsForwarder.Standing.SERVED;
        }
        var egress = ruled.get(veth);
        return egress == null || egress.deniesRest()
                ? DnsForwarder.Standing.LOCAL_NAMES_ONLY
                : DnsForwarder.Standing.SERVED;
    }

    /// What holds for questions of sandboxes.
    private final class NameRules implements DnsForwarder.Rules {
        private final NetworkLimits limits;
        private final Pattern inside;

        NameRules(NetworkLimits limits, String domain) {
            this.limits = limits;
            this.inside = Pattern.compile(
                    "\\d{1,5}-[a-z0-9]{1,40}\\." + Pattern.quote(domain.toLowerCase(Locale.ROOT)) + "\\.?");
        }

        @Override
        public DnsForwarder.Standing standing(InetAddress client) {
            return NetworkPool.this.standing(client);
        }

        @Override
        public Optional<NameFilter> filter(InetAddress client) {
            return path.names(client);
        }

        @Override
        public String team(InetAddress client) {
            return addresses.share(client);
        }

        @Override
        public boolean shows(InetAddress address) {
            return Addresses.isPublic(address) || limits.opens(address);
        }

        @Override
        public boolean permits(InetAddress address) {
            return limits.opens(address) || limits.ceiling().permits(address);
        }

        @Override
        public boolean permits(String name) {
            return limits.ceiling().permitsName(name);
        }

        @Override
        public void refused(InetAddress client, String name) {
            addresses.find(client).ifPresent(id -> path.refusedName(id, name));
        }

        /// The address of this host, to which the name of a sandbox leads elsewhere, is none that sandboxes reach.
        @Override
        public boolean isInside(String name) {
            return inside.matcher(name).matches();
        }
    }
}
