package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Slot;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.web.ClosedAddresses;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every refusal stands beside a control that succeeds, and is seen to fail without the rules.
@NeedsRoot
final class FirewallTest {
    private static final int WEB = 8080;
    private static final int DNS = 53;

    private NetworkLab lab;
    private Firewall firewall;
    private ForeignFirewalls foreign;
    private Slot slotA;
    private Slot slotB;
    private String a;
    private String b;
    private NetworkLab.Talker internet;

    @BeforeEach
    void build() throws Exception {
        lab = new NetworkLab();
        firewall = new Firewall(lab.plan, NetworkLimits.DEFAULT, lab.onHost);
        foreign = new ForeignFirewalls(lab.plan, lab.onHost);
        slotA = lab.plan.take();
        slotB = lab.plan.take();
        a = lab.sandbox(slotA);
        b = lab.sandbox(slotB);
        internet = lab.serve(lab.internet, WEB, DNS);
        lab.serve(lab.host, WEB, DNS);
        lab.serve(b, WEB);
    }

    @AfterEach
    void remove() {
        if (lab != null) {
            lab.close();
        }
    }

    /// Asks the rules and not the addresses, which belong to others.
    @Test
    void refusesWhatTheNodeRefusesForItsOwnConnections() {
        firewall.load();
        for (String range : ClosedAddresses.IPV4) {
            assertThat(isClosed(range.substring(0, range.indexOf('/'))))
                    .as(range)
                    .isTrue();
        }
        assertThat(isClosed("168.63.129.16")).isTrue();
        assertThat(isClosed("192.88.99.255")).isTrue();
        assertThat(isClosed("168.63.129.17")).isFalse();
        assertThat(isClosed(NetworkLab.PUBLIC)).isFalse();
    }

    private boolean isClosed(String address) {
        return lab.onHost
                .run(
                        Duration.ofSeconds(20),
                        "nft",
                        "get",
                        "element",
                        "inet",
                        lab.plan.firewallTable(),
                        "private4",
                        "{ " + address + " }")
                .ok();
    }

    @Test
    void letsSandboxesReachThePublicAndNamesButNothingElse() throws Exception {
        firewall.load();
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
        assertThat(lab.tcp(a, slotA.gateway(), DNS)).isEqualTo(slotA.address());
        assertThat(lab.udp(a, slotA.gateway(), DNS, "name", "")).isEqualTo(slotA.address());

        for (String target : forbidden()) {
            assertThat(lab.tcp(a, target, WEB)).as(target).startsWith("error");
        }
        assertThat(lab.tcp(a, NetworkLab.HOST_PUBLIC, DNS)).startsWith("error");
        assertThat(lab.udp(a, NetworkLab.PRIVATE.getFirst(), WEB, "x", "")).startsWith("error");

        firewall.remove();
        for (String target : forbidden()) {
            assertThat(lab.tcp(a, target, WEB)).as("without rules: " + target).doesNotStartWith("error");
        }
    }

    @Test
    void opensWhatTheOperatorNamesAndNothingBesideIt() throws Exception {
        String mirror = "10.1.2.3";
        var limits = NetworkLimits.DEFAULT;
        var opened = new Firewall(
                lab.plan,
                new NetworkLimits(
                        limits.connections(), 0, limits.nodePorts(), List.of(mirror + ":" + WEB, mirror + ":9")),
                lab.onHost);
        opened.load();
        assertThat(lab.tcp(a, mirror, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
        assertThat(lab.tcp(a, mirror, DNS)).as("another port").startsWith("error");
        assertThat(lab.udp(a, mirror, WEB, "x", "")).as("another protocol").startsWith("error");
        assertThat(lab.tcp(a, "172.20.0.5", WEB)).as("another address").startsWith("error");

        opened.setEgress(slotA, Egress.closed());
        assertThat(lab.tcp(a, mirror, WEB)).as("a sandbox without internet").startsWith("error");
        assertThat(lab.tcp(b, mirror, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
    }

    @Test
    void letsNobodyInFromOutside() throws Exception {
        firewall.load();
        assertThat(lab.tcp(lab.internet, slotB.address(), WEB)).startsWith("error");
        assertThat(lab.tcp(lab.third, slotB.address(), WEB)).startsWith("error");
        assertThat(lab.tcp(lab.host, slotB.address(), WEB)).startsWith("error");
        assertThat(lab.tcp(b, "127.0.0.1", WEB)).isEqualTo("127.0.0.1");

        firewall.remove();
        assertThat(lab.tcp(lab.internet, slotB.address(), WEB)).doesNotStartWith("error");
        assertThat(lab.tcp(lab.host, slotB.address(), WEB)).doesNotStartWith("error");
    }

    @Test
    void withdrawsInternetAccessAtOnceAndKeepsItWithdrawnAcrossAReload() throws Exception {
        firewall.load();
        try (var open = lab.open(a, "tcp", NetworkLab.PUBLIC, WEB, "", "")) {
            assertThat(open.line()).isEqualTo(NetworkLab.HOST_PUBLIC);
            assertThat(open.say("before")).isEqualTo("before");

            firewall.setEgress(slotA, Egress.closed());
            assertThat(open.say("after")).startsWith("error");
        }
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).startsWith("error");
        assertThat(lab.tcp(b, NetworkLab.PUBLIC, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);

        var restarted = new Firewall(lab.plan, NetworkLimits.DEFAULT, lab.onHost);
        restarted.load();
        assertThat(restarted.isBarred(slotA.veth())).isTrue();
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).startsWith("error");

        restarted.setEgress(slotA, Egress.open());
        restarted.setEgress(slotA, Egress.open());
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
    }

    @Test
    void dropsForgedSources() throws Exception {
        firewall.load();
        lab.in(a, "nft delete table ip n");
        for (String forged : List.of(slotB.address(), "198.51.100.7", slotA.gateway())) {
            lab.in(a, "ip address add " + forged + "/32 dev lo");
            assertThat(lab.udp(a, NetworkLab.PUBLIC, WEB, "forged", forged)).startsWith("error");
            lab.in(a, "ip address delete " + forged + "/32 dev lo");
        }
        assertThat(lab.udp(a, NetworkLab.PUBLIC, WEB, "true", slotA.address())).doesNotStartWith("error");
        assertThat(internet.until("udp true")).containsExactly("udp true");

        firewall.remove();
        lab.in(a, "ip address add " + slotB.address() + "/32 dev lo");
        lab.udp(a, NetworkLab.PUBLIC, WEB, "forged", slotB.address());
        assertThat(internet.until("udp forged")).containsExactly("udp forged");
    }

    @Test
    void resetsConnectionsItDoesNotKnow() throws Exception {
        firewall.load();
        try (var open = lab.open(a, "tcp", NetworkLab.PUBLIC, WEB, "", "")) {
            assertThat(open.line()).isEqualTo(NetworkLab.HOST_PUBLIC);
            // As after a restore: the sandbox believes in a connection nobody on the way remembers.
            forgetConnections();
            assertThat(open.say("anybody?")).contains("reset");
        }
    }

    @Test
    void leavesTheTrafficOfOthersAlone() throws Exception {
        lab.in(lab.host, "nft add table ip theirs");
        lab.in(lab.host, "nft add chain ip theirs post { type nat hook postrouting priority 100 ; }");
        lab.in(lab.host, "nft add rule ip theirs post ip saddr 172.30.0.0/24 oifname uplink masquerade");
        lab.serve(lab.third, WEB);
        String before = lab.foreignRules();
        assertOthersReachEachOther();

        firewall.load();
        foreign.makeWay();
        assertOthersReachEachOther();
        assertThat(lab.foreignRules()).isEqualTo(before);

        foreign.withdraw();
        firewall.remove();
        assertOthersReachEachOther();
        assertThat(lab.foreignRules()).isEqualTo(before);
        assertThat(lab.in(lab.host, "nft list tables")).doesNotContain(lab.plan.firewallTable());
    }

    @Test
    void getsThroughAFirewallThatDropsWhatItDoesNotKnow() throws Exception {
        lab.in(lab.host, "iptables-nft -P FORWARD DROP");
        lab.in(lab.host, "iptables-nft -P INPUT DROP");
        assertGetsThrough("FORWARD");
    }

    @Test
    void usesTheChainDockerLeavesForOthers() throws Exception {
        lab.in(lab.host, "iptables-nft -N DOCKER-USER");
        lab.in(lab.host, "iptables-nft -A DOCKER-USER -j RETURN");
        lab.in(lab.host, "iptables-nft -A FORWARD -j DOCKER-USER");
        lab.in(lab.host, "iptables-nft -P FORWARD DROP");
        assertGetsThrough("DOCKER-USER");
    }

    @Test
    void namesAnObstacleItMustNotTouch() {
        lab.in(lab.host, "nft add table inet byhand");
        lab.in(lab.host, "nft add chain inet byhand guard { type filter hook forward priority 0 ; policy drop ; }");
        foreign.makeWay();
        assertThat(foreign.obstacles())
                .hasSize(2)
                .allSatisfy(obstacle -> assertThat(obstacle.fix()).contains("inet byhand guard"));
    }

    private void assertGetsThrough(String chain) throws Exception {
        String before = lab.in(lab.host, "iptables-nft -S");
        firewall.load();
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).startsWith("error");

        foreign.makeWay();
        foreign.makeWay();
        String marked = lab.in(lab.host, "iptables-nft -S");
        assertThat(marked.lines().filter(line -> line.startsWith("-A " + chain + " ") && line.contains("--comment")))
                .hasSize(2);
        assertThat(lab.tcp(a, NetworkLab.PUBLIC, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
        assertThat(lab.udp(a, slotA.gateway(), DNS, "name", "")).isEqualTo(slotA.address());
        assertThat(lab.tcp(a, NetworkLab.PRIVATE.getFirst(), WEB)).startsWith("error");
        assertThat(lab.tcp(lab.third, NetworkLab.PUBLIC, WEB))
                .as("theirs stays dropped")
                .startsWith("error");

        foreign.withdraw();
        assertThat(lab.in(lab.host, "iptables-nft -S")).isEqualTo(before);
    }

    private void assertOthersReachEachOther() throws Exception {
        assertThat(lab.tcp(lab.third, NetworkLab.PUBLIC, WEB)).isEqualTo(NetworkLab.HOST_PUBLIC);
        assertThat(lab.tcp(lab.internet, "172.30.0.2", WEB)).isEqualTo(NetworkLab.PUBLIC);
        assertThat(lab.tcp(lab.third, NetworkLab.THIRD_HOST_SIDE, WEB)).isEqualTo("172.30.0.2");
        assertThat(lab.tcp(lab.host, "172.30.0.2", WEB)).isEqualTo(NetworkLab.THIRD_HOST_SIDE);
    }

    /// A masqueraded connection is forgotten when its way out goes down, a little later.
    private void forgetConnections() throws Exception {
        lab.in(lab.host, "ip link set uplink down");
        lab.in(lab.host, "ip link set uplink up");
        lab.in(lab.host, "ip route add default via " + NetworkLab.PUBLIC);
        Await.until(
                "the kernel forgets the connections",
                () -> !lab.in(lab.host, "cat /proc/net/nf_conntrack").contains("dport=" + WEB));
    }

    private List<String> forbidden() {
        var targets = new ArrayList<>(NetworkLab.PRIVATE);
        targets.addAll(List.of(slotB.address(), slotA.gateway(), NetworkLab.HOST_PUBLIC, NetworkLab.THIRD_HOST_SIDE));
        return targets;
    }
}
