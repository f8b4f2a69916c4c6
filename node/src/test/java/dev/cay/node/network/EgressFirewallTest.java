package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Slot;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Egress rules of one sandbox, in a world of namespaces in which one owns 1.1.1.1 and 8.8.8.8. Every refusal
/// stands beside a control that succeeds.
@NeedsRoot
final class EgressFirewallTest {
    private static final int WEB = 8080;
    private static final int DNS = 53;
    private static final String ONE = NetworkLab.RESOLVERS.get(0);
    private static final String EIGHT = NetworkLab.RESOLVERS.get(1);

    /// The one address that answers datagrams as itself.
    private static final String NEAR = NetworkLab.PUBLIC;

    private static final String SEEN = NetworkLab.HOST_PUBLIC;
    private static final List<String> ALL = List.of("0.0.0.0/0");

    private NetworkLab lab;
    private Firewall firewall;
    private Slot slotA;
    private Slot slotB;
    private String a;
    private String b;

    @BeforeEach
    void build() throws Exception {
        lab = new NetworkLab();
        firewall = new Firewall(lab.plan, NetworkLimits.DEFAULT, lab.onHost);
        slotA = lab.plan.take();
        slotB = lab.plan.take();
        a = lab.sandbox(slotA);
        b = lab.sandbox(slotB);
        lab.serve(lab.internet, WEB, DNS);
        lab.serve(lab.host, WEB, DNS);
        firewall.load();
    }

    @AfterEach
    void remove() {
        if (lab != null) {
            lab.close();
        }
    }

    private static Egress rules(List<String> allow, List<String> deny) {
        return new Egress(true, allow, deny, Map.of(), null, false, false);
    }

    private static Egress named() {
        return rules(List.of("example.org"), ALL);
    }

    @Test
    void whatIsAllowedWinsOverWhatIsDenied() throws Exception {
        firewall.setEgress(slotA, rules(List.of(ONE, EIGHT + ":" + WEB, NEAR + ":" + DNS), ALL));
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
        assertThat(lab.udp(a, NEAR, DNS, "x", "")).isEqualTo(SEEN);
        assertThat(lab.tcp(a, EIGHT, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(a, EIGHT, DNS)).as("another port").startsWith("error");
        assertThat(lab.tcp(a, NEAR, WEB)).as("another port").startsWith("error");
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).as("another port").startsWith("error");
        assertThat(lab.tcp(b, NetworkLab.PUBLIC, WEB)).as("another sandbox").isEqualTo(SEEN);

        firewall.setEgress(slotA, Egress.open());
        assertThat(lab.tcp(a, EIGHT, DNS)).as("without rules").isEqualTo(SEEN);
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).as("without rules").isEqualTo(SEEN);
        assertThat(lab.tcp(a, NEAR, WEB)).as("without rules").isEqualTo(SEEN);
        assertThat(tables()).as("no rules, no table").doesNotContain(lab.plan.firewallTable() + "_");
    }

    @Test
    void whatNothingIsSaidAboutIsAllowed() throws Exception {
        firewall.setEgress(slotA, rules(List.of(), List.of("8.8.8.0/24")));
        assertThat(lab.tcp(a, EIGHT, WEB)).startsWith("error");
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).isEqualTo(SEEN);
    }

    @Test
    void noRuleOpensWhatIsClosedForAll() throws Exception {
        var allow = new ArrayList<>(NetworkLab.PRIVATE);
        allow.addAll(List.of(slotB.address(), lab.plan.range(), NetworkLab.HOST_PUBLIC));
        firewall.setEgress(slotA, rules(allow, ALL));
        for (String target :
                allow.stream().filter(entry -> !entry.contains("/")).toList()) {
            assertThat(lab.tcp(a, target, WEB)).as(target).startsWith("error");
        }
        firewall.remove();
        assertThat(lab.tcp(a, NetworkLab.PRIVATE.getFirst(), WEB)).as("control").doesNotStartWith("error");
    }

    @Test
    void aChangeCutsOpenConnectionsThatAreNotAllowedAnyMore() throws Exception {
        firewall.setEgress(slotA, rules(List.of(ONE, EIGHT, NEAR), ALL));
        try (var one = lab.open(a, "tcp", ONE, WEB, "", "");
                var eight = lab.open(a, "tcp", EIGHT, WEB, "", "");
                var datagrams = lab.open(a, "udp", NEAR, WEB, "x", "")) {
            assertThat(one.line()).isEqualTo(SEEN);
            assertThat(eight.line()).isEqualTo(SEEN);
            assertThat(datagrams.line()).isEqualTo(SEEN);
            assertThat(eight.say("before")).isEqualTo("before");
            assertThat(datagrams.say("before")).isEqualTo(SEEN);

            firewall.setEgress(slotA, rules(List.of(ONE), ALL));
            assertThat(eight.say("after")).startsWith("error");
            assertThat(datagrams.say("after")).startsWith("error");
            assertThat(one.say("after")).as("what is still allowed").isEqualTo("after");
        }
    }

    @Test
    void errorsOfRoutersOnAnAllowedConnectionReachTheSandbox() throws Exception {
        String behind = "9.9.9.77";
        lab.in(lab.host, "ip route add " + behind + "/32 via " + NetworkLab.PUBLIC);
        lab.in(lab.internet, "sysctl -qw net.ipv4.ip_forward=1");
        lab.in(lab.internet, "ip route add unreachable " + behind + "/32");
        assertThat(lab.tcp(a, behind, WEB)).as("without rules").contains("No route to host");
        firewall.setEgress(slotA, rules(List.of(behind), ALL));
        assertThat(lab.tcp(a, behind, WEB))
                .as("the router has an address that is denied")
                .contains("No route to host");
    }

    @Test
    void rulesStayInForceWhileTheDaemonIsAwayAndAreNotLoadedTwice() throws Exception {
        firewall.setEgress(slotA, rules(List.of(ONE), ALL));
        String before = handles();
        var restarted = new Firewall(lab.plan, NetworkLimits.DEFAULT, lab.onHost);
        assertThat(lab.tcp(a, EIGHT, WEB)).startsWith("error");
        restarted.load();
        assertThat(lab.tcp(a, EIGHT, WEB)).as("before the sandbox was taken up").startsWith("error");
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
        assertThat(restarted.hasRules(slotA.veth())).isTrue();

        restarted.setEgress(slotA, rules(List.of(ONE), ALL));
        assertThat(handles()).as("the same table").isEqualTo(before);
        restarted.setEgress(slotA, rules(List.of(EIGHT), ALL));
        assertThat(handles()).isNotEqualTo(before);
        assertThat(lab.tcp(a, EIGHT, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(a, ONE, WEB)).startsWith("error");
    }

    @Test
    void rulesThatSomebodyTookAwayComeBack() throws Exception {
        firewall.setEgress(slotA, rules(List.of(ONE), ALL));
        lab.in(lab.host, "nft delete table inet " + lab.plan.egressTable(slotA.veth()));
        assertThat(lab.tcp(a, EIGHT, WEB)).as("control").isEqualTo(SEEN);
        firewall.putBack();
        assertThat(lab.tcp(a, EIGHT, WEB)).startsWith("error");
        lab.in(lab.host, "nft flush ruleset");
        firewall.putBack();
        assertThat(lab.tcp(a, EIGHT, WEB)).startsWith("error");
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
    }

    @Test
    void nothingIsLeftOfThem() {
        firewall.setEgress(slotA, rules(List.of(ONE), ALL));
        firewall.setEgress(slotB, Egress.closed());
        firewall.forgetOthers(Set.of(slotB.veth()));
        assertThat(tables()).doesNotContain(lab.plan.egressTable(slotA.veth()));
        assertThat(firewall.isBarred(slotB.veth())).isTrue();

        firewall.setEgress(slotA, rules(List.of(ONE), ALL));
        new Firewall(lab.plan, NetworkLimits.DEFAULT, lab.onHost).remove();
        assertThat(tables()).doesNotContain(lab.plan.firewallTable());
    }

    @Test
    void tcpOfASandboxThatTakesThePathGoesToTheNode() throws Exception {
        try (var open = lab.open(a, "tcp", ONE, WEB, "", "")) {
            assertThat(open.line()).isEqualTo(SEEN);
            firewall.setEgress(slotA, named());
            assertThat(open.say("after")).as("a connection from before").startsWith("error");
        }
        assertThat(lab.tcp(a, ONE, WEB)).as("while nothing listens").startsWith("error");

        lab.serve(lab.host, HostPlan.EGRESS_PORT);
        assertThat(lab.tcp(a, ONE, WEB)).as("seen by its own address").isEqualTo(slotA.address());
        assertThat(lab.tcp(a, NetworkLab.PRIVATE.getFirst(), WEB)).isEqualTo(slotA.address());
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).as("no name can be seen").startsWith("error");
        assertThat(lab.udp(a, slotA.gateway(), DNS, "x", "")).isEqualTo(slotA.address());
        assertThat(lab.tcp(a, slotA.gateway(), DNS)).isEqualTo(slotA.address());
        for (String sandbox : List.of(a, b)) {
            assertThat(lab.tcp(sandbox, slotA.gateway(), HostPlan.EGRESS_PORT))
                    .as("the port itself, from " + sandbox)
                    .startsWith("error");
        }
        assertThat(lab.tcp(b, ONE, WEB)).as("another sandbox").isEqualTo(SEEN);
        assertThat(lab.udp(b, NEAR, WEB, "x", "")).as("another sandbox").isEqualTo(SEEN);

        firewall.setEgress(slotA, Egress.open());
        assertThat(lab.tcp(a, ONE, WEB)).as("without rules").isEqualTo(SEEN);
    }

    @Test
    void observedSandboxesKeepTheirDatagrams() throws Exception {
        lab.serve(lab.host, HostPlan.EGRESS_PORT);
        firewall.setEgress(slotA, new Egress(true, List.of(), List.of(EIGHT), Map.of(), null, false, true));
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(slotA.address());
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).isEqualTo(SEEN);
        firewall.setEgress(slotA, new Egress(true, List.of(), List.of(NEAR), Map.of(), null, false, true));
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).startsWith("error");
        var proxied =
                new Egress(true, List.of(), List.of(), Map.of(), new EgressProxy("p:1", null, null), false, false);
        firewall.setEgress(slotA, proxied);
        assertThat(lab.udp(a, NEAR, WEB, "x", "")).as("would pass by the proxy").startsWith("error");
    }

    @Test
    void noSandboxPassesTheCeiling() throws Exception {
        var usual = NetworkLimits.DEFAULT;
        var open = List.of("10.1.2.3:" + WEB);
        var capped = new Firewall(
                lab.plan,
                new NetworkLimits(
                        usual.connections(), 0, usual.nodePorts(), open, new Ceiling(List.of(), List.of(EIGHT))),
                lab.onHost);
        capped.load();
        capped.setEgress(slotA, rules(List.of(EIGHT, ONE), ALL));
        assertThat(lab.tcp(a, EIGHT, WEB)).startsWith("error");
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(b, EIGHT, WEB)).as("a sandbox without rules").startsWith("error");
        assertThat(lab.tcp(b, ONE, WEB)).isEqualTo(SEEN);

        capped = new Firewall(
                lab.plan,
                new NetworkLimits(
                        usual.connections(), 0, usual.nodePorts(), open, new Ceiling(List.of("8.0.0.0/8"), List.of())),
                lab.onHost);
        capped.load();
        assertThat(lab.tcp(b, EIGHT, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(b, ONE, WEB)).startsWith("error");
        assertThat(lab.tcp(b, "10.1.2.3", WEB)).as("what the operator opened").isEqualTo(SEEN);
        firewall.load();
        assertThat(lab.tcp(b, ONE, WEB)).as("without a ceiling").isEqualTo(SEEN);
    }

    @Test
    void aThousandRulesWithOverlapsAreOneTable() throws Exception {
        var deny = new ArrayList<String>();
        for (int i = 0; i < 1000; i++) {
            deny.add("8.%d.%d.0/%d".formatted(i / 100 + 1, i % 100, 16 + i % 9));
        }
        firewall.setEgress(slotA, rules(List.of("8.8.8.8", "8.8.8.0/24:" + WEB, "8.8.0.0/16:" + WEB), deny));
        assertThat(lab.tcp(a, EIGHT, WEB)).isEqualTo(SEEN);
        assertThat(lab.tcp(a, ONE, WEB)).isEqualTo(SEEN);
    }

    private String tables() {
        return lab.in(lab.host, "nft list tables");
    }

    /// Numbers that the kernel gives to each thing it makes.
    private String handles() {
        return lab.in(lab.host, "nft -a list table inet " + lab.plan.egressTable(slotA.veth()));
    }
}
