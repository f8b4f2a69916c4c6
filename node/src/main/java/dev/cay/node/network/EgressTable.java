package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Slot;
import dev.cay.wire.node.AddressSet;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Egress.Destination;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// The nftables table of one sandbox with egress rules. It is evaluated before the table of the instance, and can only
/// refuse more.
///
/// Each such sandbox has a table of its own, which is replaced as a whole, because the `nft` program reads all sets of
/// a table before it changes one element.
///
/// @param name of the table
/// @param mark name of an empty chain in it that identifies its contents, so that a restarted daemon knows what is in
///             force
/// @param text creates the table, in place of an existing one
record EgressTable(String name, String mark, String text) {
    static final String MARK = "is_";

    private static final int FIRST_GROUP = 4096;
    private static final int GROUPS = 60_000;

    /// Routers on the way of an allowed connection report by ICMP that its packets are too large, or do not
    /// arrive: these errors pass. Both directions are judged: packets of an open connection that is no longer
    /// allowed pass neither way. Connections of sandboxes on the path that are still forwarded from before its
    /// rules are refused. The redirection runs before those of other programs.
    private static final String RULES = """
            add table inet TABLE
            delete table inet TABLE
            table inet TABLE {
                chain MARKED {
                }
            SETS
                chain refuse {
                    TELLING
                    meta l4proto tcp reject with tcp reset
                    reject with icmpx type admin-prohibited
                }
                chain from_sandbox {
            OUT
                }
                chain to_sandbox {
                    meta l4proto icmp ct state related return
            BACK
                }
                chain forward {
                    type filter hook forward priority filter - 1; policy accept;
                    iifname "VETH" jump from_sandbox
                    oifname "VETH" jump to_sandbox
                }
            REDIRECT
            }
            """;

    private static final String REDIRECT = """
                chain redirected {
                    type nat hook prerouting priority dstnat - 10; policy accept;
                    iifname "VETH" meta l4proto tcp ip daddr != GATEWAY redirect to :PORT
                }
            """;

    /// The table that these rules need; empty where the table of the instance does all.
    ///
    /// @param telling whether the kernel can tell of packets that are refused
    static Optional<EgressTable> of(HostPlan plan, Slot slot, Egress egress, boolean telling) {
        if (!egress.internet() || (egress.deny().isEmpty() && !egress.takesPath())) {
            return Optional.empty();
        }
        String name = plan.egressTable(slot.veth());
        String text = RULES.replace("TABLE", name)
                .replace("SETS", sets(egress))
                .replace("OUT", judging(egress, "daddr", "dport", "goto refuse"))
                .replace("BACK", judging(egress, "saddr", "sport", "drop"))
                .replace("TELLING", telling ? telling(plan) : "")
                .replace("REDIRECT", egress.takesPath() ? REDIRECT : "")
                .replace("PORT", Integer.toString(HostPlan.EGRESS_PORT))
                .replace("GATEWAY", plan.gateway())
                .replace("VETH", slot.veth());
        String mark = MARK + hash(text);
        return Optional.of(new EgressTable(name, mark, text.replace("MARKED", mark)));
    }

    private static String telling(HostPlan plan) {
        return "limit rate %d/second burst %d packets %s"
                .formatted(FirewallRules.TOLD_PER_SECOND, 2 * FirewallRules.TOLD_PER_SECOND, log(plan));
    }

    /// Tells {@link RefusedPackets} of a packet.
    static String log(HostPlan plan) {
        return "log group %d snaplen %d".formatted(group(plan), RefusedPackets.LENGTH);
    }

    /// The group of this instance. Another instance could have the same; then one of them hears nothing.
    static int group(HostPlan plan) {
        return FIRST_GROUP + Math.floorMod(plan.instance().hashCode(), GROUPS);
    }

    private static String sets(Egress egress) {
        var addresses = egress.allow().stream()
                .map(Destination::parse)
                .filter(Destination::isAddress)
                .toList();
        var anyPort = addresses.stream()
                .filter(entry -> entry.port() == 0)
                .map(Destination::host)
                .toList();
        var ports = new TreeSet<Integer>();
        addresses.stream().map(Destination::port).filter(port -> port != 0).forEach(ports::add);
        String places = ports.stream()
                .flatMap(port -> AddressSet.of(addresses.stream()
                                .filter(entry -> entry.port() == port)
                                .map(Destination::host)
                                .toList())
                        .ipv4()
                        .stream()
                        .map(range -> element(range) + " . " + port))
                .collect(Collectors.joining(", "));
        return set("allowed", "ipv4_addr", elements(anyPort))
                + set("places", "ipv4_addr . inet_service", places)
                + set("denied", "ipv4_addr", elements(egress.deny()));
    }

    private static String set(String name, String type, String elements) {
        return """
                set %s {
                    type %s
                    flags interval
                    %s
                }
            """.formatted(name, type, elements.isEmpty() ? "" : "elements = { " + elements + " }");
    }

    private static String elements(List<String> entries) {
        return AddressSet.of(entries).ipv4().stream().map(EgressTable::element).collect(Collectors.joining(", "));
    }

    private static String element(AddressSet.Range range) {
        String first = range.first().getHostAddress();
        String last = range.last().getHostAddress();
        return first.equals(last) ? first : first + "-" + last;
    }

    private static String judging(Egress egress, String address, String port, String refusal) {
        if (egress.tcpOnly()) {
            return refusal;
        }
        String byAddress = """
                ip %1$s @allowed return
                meta l4proto { tcp, udp } ip %1$s . th %2$s @places return
                ip %1$s @denied %3$s
                """.formatted(address, port, refusal);
        return egress.takesPath() ? "meta l4proto tcp " + refusal + "\n" + byAddress : byAddress;
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 10);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
