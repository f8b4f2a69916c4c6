package dev.cay.node.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Slot;
import dev.cay.node.host.Sysctls;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs the pool in a JVM of its own, inside the fake host of a {@link NetworkLab}: it is the whole host's business.
@NeedsRoot
final class NetworkPoolTest {
    @Test
    void servesASandboxFromFirstAttachToRemoval(@TempDir Path ledger) throws Exception {
        try (var lab = new NetworkLab()) {
            var slot = lab.plan.take();
            lab.in(lab.host, "ip address delete " + lab.plan.gateway() + "/32 dev lo");
            lab.in(lab.host, "sysctl -qw net.ipv4.ip_forward=0");
            lab.serve(lab.internet, 8080);
            try (var pool = lab.java(Driver.class, lab.plan.instance(), lab.plan.range(), ledger.toString())) {
                assertThat(pool.line()).isEqualTo("started");
                String sandbox = lab.sandbox(slot);
                assertThat(pool.say("attach")).isEqualTo("done");
                assertThat(lab.tcp(sandbox, NetworkLab.PUBLIC, 8080)).isEqualTo(NetworkLab.HOST_PUBLIC);
                assertThat(resolve(lab, sandbox, slot)).isEqualTo("127.0.0.1");

                assertThat(pool.say("bar")).isEqualTo("done");
                assertThat(lab.tcp(sandbox, NetworkLab.PUBLIC, 8080)).startsWith("error");

                lab.in(lab.host, "nft flush ruleset");
                lab.in(lab.host, "sysctl -qw net.ipv4.ip_forward=0");
                assertThat(pool.say("heal")).contains("loaded again");
                assertThat(pool.line()).isEqualTo("done");
                assertThat(lab.in(lab.host, "nft list table inet " + lab.plan.firewallTable()))
                        .as("who was barred is barred")
                        .contains("\"" + slot.veth() + "\"");
                assertThat(lab.tcp(sandbox, NetworkLab.PUBLIC, 8080)).startsWith("error");
                assertThat(pool.say("allow")).isEqualTo("done");
                assertThat(lab.tcp(sandbox, NetworkLab.PUBLIC, 8080)).isEqualTo(NetworkLab.HOST_PUBLIC);

                assertThat(pool.say("orphans")).isEqualTo("[" + slot.veth() + "]");
                assertThat(pool.say("detach")).isEqualTo("done");
                assertThat(pool.say("orphans")).isEqualTo("[]");
                assertThat(lab.in(lab.host, "nft list table inet " + lab.plan.firewallTable()))
                        .doesNotContain("\"" + slot.veth() + "\"");

                assertThat(pool.say("close")).isEqualTo("done");
                lab.in(lab.host, "nft delete table inet " + lab.plan.firewallTable());
                assertThat(pool.say("heal")).isEqualTo("done");
                assertThat(lab.in(lab.host, "nft list tables"))
                        .as("a closed pool loads no rules")
                        .doesNotContain(lab.plan.firewallTable());

                assertThat(pool.say("remove")).isEqualTo("done");
                assertThat(lab.in(lab.host, "ip address show")).doesNotContain(lab.plan.gateway());
            }
        }
    }

    private static String resolve(NetworkLab lab, String sandbox, Slot slot) throws Exception {
        var config = Path.of("/etc/netns", sandbox);
        Files.createDirectories(config);
        try {
            Files.writeString(config.resolve("resolv.conf"), "nameserver " + slot.gateway() + "\n");
            Files.writeString(config.resolve("nsswitch.conf"), "hosts: dns\n");
            return lab.in(sandbox, "getent ahostsv4 x.cay.localhost").split(" ")[0];
        } finally {
            Files.deleteIfExists(config.resolve("resolv.conf"));
            Files.deleteIfExists(config.resolve("nsswitch.conf"));
            Files.deleteIfExists(config);
        }
    }

    /// The other JVM.
    static final class Driver {
        private static final SandboxId ID = new SandboxId("driven");

        private Driver() {}

        public static void main(String[] arguments) throws Exception {
            var plan = new HostPlan(arguments[0], 1_000_000, arguments[1]);
            var ledger = new HostLedger(Path.of(arguments[2]));
            var pool = new NetworkPool(
                    plan, NetworkLimits.DEFAULT, List.of(), "cay.localhost", new Sysctls(ledger), PathRules.NONE);
            pool.start();
            System.out.println("started");
            var slot = plan.take();
            for (int c = 0; c >= 0; ) {
                var line = new StringBuilder();
                for (c = System.in.read(); c >= 0 && c != '\n'; c = System.in.read()) {
                    line.append((char) c);
                }
                System.out.println(answer(pool, slot, line.toString()));
            }
        }

        private static String answer(NetworkPool pool, Slot slot, String order) {
            switch (order) {
                case "attach" -> pool.attach(ID, slot, Egress.open());
                case "bar" -> pool.setEgress(ID, slot, Egress.closed());
                case "allow" -> pool.setEgress(ID, slot, Egress.open());
                case "heal" -> pool.heal();
                case "detach" -> pool.detach(ID, slot);
                case "close" -> pool.close();
                case "remove" -> pool.remove();
                default -> {
                    return pool.orphans(List.of()).toString();
                }
            }
            return "done";
        }
    }
}
