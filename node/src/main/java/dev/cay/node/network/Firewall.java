package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.web.ClosedAddresses;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One nftables table that judges packets of our own interfaces and no others. Thread-safe.
///
/// A sandbox may talk to public addresses and to those that the operator opens, and ask the gateway for names, nothing
/// else. Whoever is not of ours passes
/// with one comparison of an interface name. The table outlives the daemon, as sandboxes do.
public final class Firewall {
    private static final Logger log = LoggerFactory.getLogger(Firewall.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /// Questions for names of one sandbox; what comes faster never wakes the daemon.
    private static final int QUESTIONS_PER_SECOND = 500;

    /// A flow without answers stays new to the kernel; only its first packet is the one that opens it.
    private static final String FIRST_PACKET = "ct state new ct status & confirmed == 0";

    /// The set `noinet` is asked before the rule for established connections: withdrawing access ends open
    /// ones. A TCP packet of no connection we know is answered with a reset: a restored sandbox learns at
    /// once that its old connections are gone. `arriving` runs before connection tracking: a forged packet
    /// leaves no trace.
    private static final String RULES = """
            add table inet TABLE
            delete table inet TABLE
            table inet TABLE {
                set private4 {
                    type ipv4_addr
                    flags interval
                    elements = { CLOSED }
                }
                set open4 {
                    type ipv4_addr . inet_service
                    OPEN
                }
                set noinet {
                    type ifname
                    NOINET
                }
                set connections {
                    type ipv4_addr
                    flags dynamic
                    size 65536
                }
                set opened {
                    type ipv4_addr
                    flags dynamic
                    size 65536
                }
                set asked {
                    type ipv4_addr
                    flags dynamic
                    size 65536
                }
                chain from_sandbox {
                    meta nfproto ipv6 drop
                    ip saddr != RANGE drop
                    fib saddr . iif oif missing drop
                    ASKING
                }
                chain to_host {
                    ct state new jump opening
                    ip daddr GATEWAY udp dport 53 accept
                    ip daddr GATEWAY tcp dport 53 accept
                    reject with icmpx type admin-prohibited
                }
                chain to_world {
                    oifname "PREFIX*" reject with icmpx type admin-prohibited
                    ip daddr . tcp dport @open4 goto admitted
                    ip daddr @private4 reject with icmpx type admin-prohibited
                    ip daddr RANGE reject with icmpx type admin-prohibited
                    goto admitted
                }
                chain admitted {
                    iifname @noinet meta l4proto tcp reject with tcp reset
                    iifname @noinet reject with icmpx type admin-prohibited
                    ct state established,related accept
                    tcp flags & (syn | rst) == 0 reject with tcp reset
                    ct state invalid drop
                    jump opening
                    accept
                }
                chain opening {
                    PACE
                    COUNT
                }
                chain to_sandbox {
                    oifname @noinet drop
                    ct state established,related accept
                    drop
                }
                chain host_to_sandbox {
                    ct state established,related accept
                    drop
                }
                chain arriving {
                    type filter hook prerouting priority raw; policy accept;
                    iifname "PREFIX*" jump from_sandbox
                }
                chain input {
                    type filter hook input priority filter; policy accept;
                    iifname "PREFIX*" jump to_host
                }
                chain forward {
                    type filter hook forward priority filter; policy accept;
                    iifname "PREFIX*" jump to_world
                    oifname "PREFIX*" jump to_sandbox
                }
                chain output {
                    type filter hook output priority filter; policy accept;
                    oifname "PREFIX*" jump host_to_sandbox
                }
                chain leaving {
                    type nat hook postrouting priority srcnat; policy accept;
                    iifname "PREFIX*" oifname != "PREFIX*" masquerade
                }
            }
            """;

    private final HostPlan plan;
    private final NetworkLimits limits;
    private final Programs programs;

    /// The kernel's set as we left it, so that the common case, a sandbox with access, costs no process.
    private final Set<String> barred = new ConcurrentSkipListSet<>();

    public Firewall(HostPlan plan, NetworkLimits limits, Programs programs) {
        this.plan = plan;
        this.limits = limits;
        this.programs = programs;
    }

    /// Loads the rules in one transaction, in place of those that may be there. Who had no internet access before
    /// has none afterwards, so that a restart of the daemon opens no gap.
    public synchronized void load() {
        barred.clear();
        barred.addAll(listBarred());
        apply();
    }

    /// Loads the rules again, as they were, if somebody took them away.
    public synchronized void putBack() {
        if (programs.run(LIMIT, "nft", "list", "set", "inet", plan.firewallTable(), "noinet")
                .ok()) {
            return;
        }
        log.atWarn().log("the firewall rules of this instance were gone and are loaded again");
        apply();
    }

    private void apply() {
        var loaded = nft(rules(true));
        if (loaded.ok()) {
            return;
        }
        log.atWarn()
                .addKeyValue("said", loaded.output().strip())
                .log("this kernel cannot count connections per sandbox, going on without that limit");
        require(rules(false));
    }

    /// Acts at once, also on connections that are open. Saying the same twice is harmless.
    public synchronized void setInternetAccess(Slot slot, boolean allowed) {
        String element = "element inet %s noinet { \"%s\" }\n".formatted(plan.firewallTable(), slot.veth());
        // Adding first makes the delete succeed whether or not it was there.
        require("add " + element + (allowed ? "delete " + element : ""));
        if (allowed) {
            barred.remove(slot.veth());
        } else {
            barred.add(slot.veth());
        }
    }

    /// Takes back what was said about links that are none of these.
    synchronized void forgetOthers(Set<String> veths) {
        for (String veth : List.copyOf(barred)) {
            if (!veths.contains(veth)) {
                String element = "element inet %s noinet { \"%s\" }\n".formatted(plan.firewallTable(), veth);
                require("add " + element + "delete " + element);
                barred.remove(veth);
            }
        }
    }

    boolean isBarred(String veth) {
        return barred.contains(veth);
    }

    public synchronized void remove() {
        String table = "table inet %s\n".formatted(plan.firewallTable());
        require("add " + table + "delete " + table);
    }

    private List<String> listBarred() {
        var listed = programs.run(LIMIT, "nft", "list", "set", "inet", plan.firewallTable(), "noinet");
        var names = new TreeSet<String>();
        if (listed.ok()) {
            var quoted = Pattern.compile("\"(%s[0-9a-z]+)\"".formatted(Pattern.quote(plan.interfacePrefix())));
            quoted.matcher(listed.output()).results().forEach(match -> names.add(match.group(1)));
        }
        return List.copyOf(names);
    }

    private String rules(boolean counted) {
        String elements = barred.isEmpty() ? "" : "elements = { \"" + String.join("\", \"", barred) + "\" }";
        String refuse = "reject with icmpx type admin-prohibited";
        String count = FIRST_PACKET
                + " add @connections { ip saddr ct count over %d } %s".formatted(limits.connections(), refuse);
        String pace = FIRST_PACKET
                + " add @opened { ip saddr limit rate over %d/second burst %d packets } %s"
                        .formatted(limits.connectionsPerSecond(), limits.connections(), refuse);
        String asking = "udp dport 53 add @asked { ip saddr limit rate over %d/second burst %d packets } drop"
                .formatted(QUESTIONS_PER_SECOND, QUESTIONS_PER_SECOND);
        return RULES.replace("TABLE", plan.firewallTable())
                .replace("PREFIX", plan.interfacePrefix())
                .replace("RANGE", plan.range())
                .replace("GATEWAY", plan.gateway())
                .replace("CLOSED", String.join(", ", ClosedAddresses.IPV4))
                .replace("OPEN", open())
                .replace("NOINET", elements)
                .replace("ASKING", counted ? asking : "")
                .replace("PACE", counted ? pace : "")
                .replace("COUNT", counted ? count : "");
    }

    private String open() {
        var places = limits.open().stream().distinct().map(place -> place.replace(":", " . "));
        String elements = places.collect(Collectors.joining(", "));
        return elements.isEmpty() ? "" : "elements = { " + elements + " }";
    }

    private void require(String input) {
        programs.require(LIMIT, input, List.of("nft", "-f", "-"));
    }

    private Programs.Result nft(String input) {
        return programs.run(LIMIT, input, List.of("nft", "-f", "-"));
    }
}
