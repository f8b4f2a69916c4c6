package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.web.ClosedAddresses;
import dev.cay.wire.node.AddressSet;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/// The rules that hold for all sandboxes, as a script for `nft`.
record FirewallRules(HostPlan plan, NetworkLimits limits) {
    /// Questions for names of one sandbox; what comes faster never wakes the daemon.
    private static final int QUESTIONS_PER_SECOND = 500;

    /// Refused packets of one sandbox that egress logs hear of; the kernel counts no others.
    static final int TOLD_PER_SECOND = 10;

    /// Matches the first packet of a flow. A flow without answers stays new to the kernel, so the connection must also
    /// be unconfirmed.
    private static final String FIRST_PACKET = "ct state new ct status & confirmed == 0";

    /// The set `noinet` is checked before the rule for established connections: withdrawing access ends open ones.
    /// A TCP packet of no known connection is answered with a reset: a restored sandbox learns at once that its old
    /// connections are gone. `arriving` runs before connection tracking: a forged packet leaves no trace. The port
    /// of the path takes only connections that a sandbox's own table redirected.
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
                CEILING
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
                set told {
                    type ipv4_addr
                    flags dynamic
                    size 65536
                }
                chain tell {
                    TELLING
                }
                chain refuse {
                    jump tell
                    reject with icmpx type admin-prohibited
                }
                chain barred {
                    jump tell
                    meta l4proto tcp reject with tcp reset
                    reject with icmpx type admin-prohibited
                }
                chain to_host {
                    ct state new jump opening
                    ip daddr GATEWAY udp dport 53 accept
                    ip daddr GATEWAY tcp dport 53 accept
                    ip daddr GATEWAY tcp dport EGRESS ct status dnat accept
                    goto refuse
                }
                chain to_world {
                    oifname "PREFIX*" goto refuse
                    ip daddr . tcp dport @open4 goto admitted
                    ip daddr @private4 goto refuse
                    ip daddr RANGE goto refuse
                    CAPPED
                    goto admitted
                }
                chain admitted {
                    iifname @noinet goto barred
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

    /// The rules, in place of those that are loaded.
    ///
    /// @param barred  links of sandboxes without internet access
    /// @param counted whether the kernel counts connections and packets of each sandbox
    /// @param telling whether the kernel tells of refused packets
    String text(Collection<String> barred, boolean counted, boolean telling) {
        String elements = barred.isEmpty() ? "" : "elements = { \"" + String.join("\", \"", barred) + "\" }";
        String refuse = "reject with icmpx type admin-prohibited";
        String count = FIRST_PACKET
                + " add @connections { ip saddr ct count over %d } %s".formatted(limits.connections(), refuse);
        String pace = FIRST_PACKET
                + " add @opened { ip saddr limit rate over %d/second burst %d packets } %s"
                        .formatted(limits.connectionsPerSecond(), limits.connections(), refuse);
        String asking = "udp dport 53 add @asked { ip saddr limit rate over %d/second burst %d packets } drop"
                .formatted(QUESTIONS_PER_SECOND, QUESTIONS_PER_SECOND);
        String tell = "add @told { ip saddr limit rate over %1$d/second burst %2$d packets } return\n%3$s"
                .formatted(TOLD_PER_SECOND, 2 * TOLD_PER_SECOND, EgressTable.log(plan));
        return RULES.replace("TABLE", plan.firewallTable())
                .replace("PREFIX", plan.interfacePrefix())
                .replace("RANGE", plan.range())
                .replace("GATEWAY", plan.gateway())
                .replace("CLOSED", String.join(", ", ClosedAddresses.IPV4))
                .replace("EGRESS", Integer.toString(HostPlan.EGRESS_PORT))
                .replace("CEILING", ceiling())
                .replace("CAPPED", capped())
                .replace("OPEN", open())
                .replace("NOINET", elements)
                .replace("ASKING", counted ? asking : "")
                .replace("TELLING", counted && telling ? tell : "")
                .replace("PACE", counted ? pace : "")
                .replace("COUNT", counted ? count : "");
    }

    private String open() {
        var places = limits.open().stream().distinct().map(place -> place.replace(":", " . "));
        String elements = places.collect(Collectors.joining(", "));
        return elements.isEmpty() ? "" : "elements = { " + elements + " }";
    }

    private String ceiling() {
        return ceilingSet("permitted", limits.ceiling().allow())
                + ceilingSet("forbidden", limits.ceiling().deny());
    }

    private static String ceilingSet(String name, List<String> entries) {
        String elements = AddressSet.of(entries).ipv4().stream()
                .map(range ->
                        range.first().getHostAddress() + "-" + range.last().getHostAddress())
                .collect(Collectors.joining(", "));
        return entries.isEmpty()
                ? ""
                : "set %s { type ipv4_addr; flags interval; elements = { %s }; }\n".formatted(name, elements);
    }

    private String capped() {
        String refuse = " goto refuse\n";
        return (limits.ceiling().deny().isEmpty() ? "" : "ip daddr @forbidden" + refuse)
                + (limits.ceiling().allow().isEmpty() ? "" : "ip daddr != @permitted" + refuse);
    }
}
