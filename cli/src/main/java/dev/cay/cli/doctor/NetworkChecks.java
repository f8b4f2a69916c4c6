package dev.cay.cli.doctor;

import dev.cay.cli.local.PortHolder;
import dev.cay.cli.local.Root;
import dev.cay.config.CayConfig;
import dev.cay.node.host.AddressRange;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.HostRoutes;
import dev.cay.node.host.Programs;
import dev.cay.node.network.ForeignFirewalls;
import dev.cay.wire.SystemPorts;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// Ports, names, address ranges and firewalls.
final class NetworkChecks implements Check {
    private static final String FIREWALL = "firewall";

    @Override
    public List<Finding> look(CayConfig config, UnaryOperator<String> command) {
        var findings = new ArrayList<Finding>();
        findings.add(port(config.http().port(), command.apply("up --port N")));
        findings.add(port(config.http().tlsPort(), command.apply("up --tls-port N")));
        findings.add(names(config.http().domain()));
        findings.add(nameSwitch(Probe.read("/etc/nsswitch.conf"), config.http().domain()));
        var plan = new HostPlan(
                config.instance(), config.storage().uidBase(), config.network().range());
        findings.add(routes(HostRoutes.ofHost(), plan.range()));
        findings.addAll(
                Root.here()
                        ? firewall(new ForeignFirewalls(plan, Programs.ofHost()).obstacles())
                        : List.of(Finding.note(FIREWALL, "not looked at without root")));
        findings.add(uids(
                Probe.read("/etc/subuid") + "\n" + Probe.read("/etc/subgid"),
                config.storage().uidBase()));
        return findings;
    }

    static Finding port(int port, String otherPort) {
        String name = "port " + port;
        Optional<PortHolder> holder = PortHolder.find(port);
        if (holder.isEmpty()) {
            return Finding.ok(name, "free");
        }
        String who =
                "%s (pid %d)".formatted(holder.get().program(), holder.get().pid());
        boolean ours =
                Probe.read("/proc/%d/cmdline".formatted(holder.get().pid())).contains("dev.cay.cli.Main");
        return ours
                ? Finding.ok(name, "Cay itself, " + who)
                : Finding.fail(name, "taken by " + who, "stop it, or: sudo " + otherPort);
    }

    private static Finding names(String domain) {
        String probe = SystemPorts.ENVD + "-probe." + domain;
        try {
            var address = InetAddress.getByName(probe);
            return Finding.ok("host names", "*.%s is %s".formatted(domain, address.getHostAddress()));
        } catch (UnknownHostException _) {
            return domain.endsWith(".localhost")
                    ? Finding.warn(
                            "host names",
                            "*.%s does not resolve: only plain URLs work".formatted(domain),
                            "sudo apt-get install libnss-myhostname")
                    : Finding.fail(
                            "host names",
                            "*.%s does not resolve".formatted(domain),
                            "add a DNS record *.%s with this machine's address".formatted(domain));
        }
    }

    static Finding nameSwitch(String nsswitch, String domain) {
        if (!domain.endsWith(".localhost")) {
            return Finding.ok("nsswitch", "not needed for " + domain);
        }
        boolean knows = nsswitch.lines()
                .filter(line -> line.startsWith("hosts:"))
                .anyMatch(line -> Arrays.stream(line.split("[\\s:]+"))
                        .anyMatch(word -> word.equals("myhostname") || word.equals("resolve")));
        return knows
                ? Finding.ok("nsswitch", "knows *.localhost")
                : Finding.warn(
                        "nsswitch",
                        "does not know *.localhost: some programs will not find sandboxes by name",
                        "sudo apt-get install libnss-myhostname");
    }

    /// A network of the host within Cay's range keeps Cay from starting; a wider one around it is only reported.
    static Finding routes(HostRoutes routes, String text) {
        var range = AddressRange.parse(text);
        var found = routes.into(range);
        if (found.isEmpty()) {
            return Finding.ok("addresses", range + " is not used by anything else");
        }
        String what = "%s overlaps %s behind %s"
                .formatted(range, found.get().range(), found.get().through());
        String fix = "set network.range to a range that is not in use, e.g. 10.201.0.0/16";
        return found.get().range().isWiderThan(range)
                ? Finding.warn("addresses", what, fix)
                : Finding.fail("addresses", what, fix);
    }

    /// Cay itself adds rules for Docker, ufw and other iptables firewalls; hand-written nftables rules are only
    /// reported.
    static List<Finding> firewall(List<ForeignFirewalls.Obstacle> obstacles) {
        if (obstacles.isEmpty()) {
            return List.of(Finding.ok(FIREWALL, "none of this host stops sandboxes"));
        }
        var fixes = new LinkedHashMap<String, List<String>>();
        for (var obstacle : obstacles) {
            fixes.computeIfAbsent(obstacle.where(), _ -> new ArrayList<>())
                    .add(obstacle.fix().replaceFirst("^nft (.*)$", "sudo nft '$1'"));
        }
        return fixes.entrySet().stream()
                .map(entry -> Finding.warn(
                        FIREWALL,
                        entry.getKey() + ": sandboxes cannot reach the network",
                        String.join("; ", entry.getValue())))
                .toList();
    }

    static Finding uids(String ranges, int base) {
        for (String line : ranges.lines().toList()) {
            String[] fields = line.strip().split(":");
            if (fields.length != 3 || !fields[1].matches("\\d{1,10}") || !fields[2].matches("\\d{1,10}")) {
                continue;
            }
            long end = Long.parseLong(fields[1]) + Long.parseLong(fields[2]);
            if (end > base) {
                return Finding.warn(
                        "uid ranges",
                        "%s may use uids up to %d, sandboxes begin at %d".formatted(fields[0], end - 1, base),
                        "set storage.uidBase above it, or shrink that range in /etc/subuid and /etc/subgid");
            }
        }
        return Finding.ok("uid ranges", "from %d on: not used by anything else".formatted(base));
    }
}
