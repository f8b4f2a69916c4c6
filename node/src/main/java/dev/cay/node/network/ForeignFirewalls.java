package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Programs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Lets sandboxes' packets pass the host's other firewalls (Docker, libvirt, ufw). All of them must accept a packet, so
/// where one drops unknown packets, sandboxes have no network whatever Cay's own table says.
///
/// In the iptables chains that are meant for additions this class adds accept rules for Cay's interfaces, marked with a
/// comment so that they are found and removed again. Plain nftables tables were written by hand: those are only
/// reported.
public final class ForeignFirewalls {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int DNS = 53;

    /// A firewall that stops sandboxes' packets and that Cay must not change.
    ///
    /// @param fix what the operator can do about it
    public record Obstacle(String where, String fix) {}

    /// One iptables program with the rules of its filter table, as `-S` prints them.
    private record Filter(String program, List<String> rules) {
        boolean stops(String chain) {
            return rules.contains("-P " + chain + " DROP")
                    || rules.stream().anyMatch(rule -> rule.matches("-A " + chain + " -j (DROP|REJECT)( .*)?"));
        }

        boolean hasDockerUser() {
            return rules.contains("-N DOCKER-USER") && rules.contains("-A FORWARD -j DOCKER-USER");
        }

        List<String> marked(String marker) {
            return rules.stream()
                    .filter(rule ->
                            Arrays.asList(rule.replace("\"", "").split(" ")).contains(marker))
                    .toList();
        }
    }

    private final Programs programs;
    private final String marker;
    private final String interfaces;
    private final String prefix;
    private final String gateway;

    public ForeignFirewalls(HostPlan plan, Programs programs) {
        this.programs = programs;
        this.marker = plan.firewallTable();
        this.prefix = plan.interfacePrefix();
        this.interfaces = prefix + "+";
        this.gateway = plan.gateway();
    }

    /// Adds missing rules; repeating this changes nothing.
    public void makeWay() {
        for (var filter : filters()) {
            var present = filter.marked(marker);
            for (var rule : wanted(filter)) {
                if (present.stream()
                        .noneMatch(line -> line.startsWith("-A " + rule.getFirst() + " ")
                                && line.contains(rule.get(1) + " " + rule.get(2)) // direction and interface
                                && hasOption(line, rule, "-p")
                                && hasOption(line, rule, "--dport"))) {
                    var command = new ArrayList<>(List.of(filter.program, "-w", "5", "-I"));
                    command.addAll(rule);
                    programs.require(LIMIT, "", command);
                }
            }
        }
    }

    /// Whether a rule as printed has the same value of an option as the wanted one.
    private static boolean hasOption(String line, List<String> rule, String option) {
        int at = rule.indexOf(option);
        return at < 0 || (line + " ").contains(option + " " + rule.get(at + 1) + " ");
    }

    /// Removes every rule that carries Cay's mark.
    public void withdraw() {
        for (var filter : filters()) {
            for (var rule : filter.marked(marker)) {
                var command = new ArrayList<>(List.of(filter.program, "-w", "5", "-D"));
                command.addAll(Arrays.asList(
                        rule.replace("\"", "").substring("-A ".length()).split(" ")));
                programs.run(LIMIT, "", command);
            }
        }
    }

    /// Firewalls that still stop sandboxes after {@link #makeWay}: chains of plain nftables that drop by default.
    public List<Obstacle> obstacles() {
        var found = new ArrayList<Obstacle>();
        String table = "";
        String chain = "";
        for (String raw : chains()) {
            String line = raw.strip();
            if (line.startsWith("table ")) {
                table = line.substring("table ".length()).replace(" {", "");
            } else if (line.startsWith("chain ")) {
                chain = line.substring("chain ".length()).replace(" {", "");
            } else if (line.contains("policy drop") && !table.equals("ip filter") && !table.startsWith("ip6 ")) {
                if (line.contains("hook forward")) {
                    found.add(obstacle(table, chain, "iifname \"%s*\" accept".formatted(prefix)));
                    found.add(obstacle(
                            table, chain, "oifname \"%s*\" ct state established,related accept".formatted(prefix)));
                } else if (line.contains("hook input")) {
                    found.add(obstacle(
                            table,
                            chain,
                            "iifname \"%s*\" meta l4proto { tcp, udp } th dport { 53, %d } accept"
                                    .formatted(prefix, HostPlan.EGRESS_PORT)));
                }
            }
        }
        return found;
    }

    private static Obstacle obstacle(String table, String chain, String rule) {
        return new Obstacle(
                "nftables chain %s %s drops by default".formatted(table, chain),
                "nft insert rule %s %s %s".formatted(table, chain, rule));
    }

    /// Rules as arguments of `-I`: chain first, then direction and interface.
    private List<List<String>> wanted(Filter filter) {
        var rules = new ArrayList<List<String>>();
        var mark = List.of("-m", "comment", "--comment", marker, "-j", "ACCEPT");
        String chain = filter.hasDockerUser() ? "DOCKER-USER" : "FORWARD";
        if (filter.hasDockerUser() || filter.stops("FORWARD")) {
            rules.add(join(List.of(chain, "-i", interfaces), mark));
            rules.add(join(
                    List.of(chain, "-o", interfaces, "-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"), mark));
        }
        if (filter.stops("INPUT")) {
            rules.add(join(toGateway("udp", DNS), mark));
            rules.add(join(toGateway("tcp", DNS), mark));
            rules.add(join(toGateway("tcp", HostPlan.EGRESS_PORT), mark));
        }
        return rules;
    }

    private List<String> toGateway(String protocol, int port) {
        return List.of("INPUT", "-i", interfaces, "-d", gateway, "-p", protocol, "--dport", Integer.toString(port));
    }

    /// Asks only the variants that are in use: the mere question would load the kernel's other iptables.
    private List<Filter> filters() {
        var filters = new ArrayList<Filter>();
        if (chains().contains("table ip filter {")) {
            String program = programs.run(LIMIT, "iptables-nft", "-V").ok() ? "iptables-nft" : "iptables";
            read(program, filters);
        }
        var legacy = programs.run(LIMIT, "cat", "/proc/net/ip_tables_names");
        if (legacy.ok() && legacy.output().lines().anyMatch("filter"::equals)) {
            String program = programs.run(LIMIT, "iptables-legacy", "-V").ok() ? "iptables-legacy" : "iptables";
            read(program, filters);
        }
        return filters;
    }

    private void read(String program, List<Filter> filters) {
        var listed = programs.run(LIMIT, program, "-w", "5", "-S");
        if (listed.ok()) {
            filters.add(new Filter(
                    program, listed.output().lines().map(String::strip).toList()));
        }
    }

    private List<String> chains() {
        return programs.run(LIMIT, "nft", "list", "chains").output().lines().toList();
    }

    private static List<String> join(List<String> one, List<String> other) {
        var all = new ArrayList<>(one);
        all.addAll(other);
        return all;
    }
}
