package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Slot;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One nftables table that judges packets of Cay's own interfaces and no others, and one more for each sandbox with
/// egress rules ({@link EgressTable}). Thread-safe.
///
/// A sandbox may reach public addresses and those that the operator opens, and ask the gateway for names, nothing else.
/// Packets of other interfaces pass after one comparison of an interface name. The tables outlive the daemon, as
/// sandboxes do.
public final class Firewall {
    private static final Logger log = LoggerFactory.getLogger(Firewall.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final HostPlan plan;
    private final FirewallRules rules;
    private final Programs programs;

    /// The kernel's set as this class left it, so that the common case, a sandbox with access, costs no process.
    private final Set<String> barred = new ConcurrentSkipListSet<>();

    /// Tables of sandboxes as they are in the kernel, by link. Of those that an earlier daemon loaded, only name and
    /// mark are known.
    private final Map<String, EgressTable> tables = new ConcurrentHashMap<>();

    /// Whether the kernel can tell of refused packets.
    private volatile boolean telling = true;

    public Firewall(HostPlan plan, NetworkLimits limits, Programs programs) {
        this.plan = plan;
        this.rules = new FirewallRules(plan, limits);
        this.programs = programs;
    }

    /// Loads the rules in one transaction, in place of existing ones. Sandboxes without internet access stay without
    /// it, so a restart of the daemon opens no gap.
    public synchronized void load() {
        barred.clear();
        barred.addAll(listBarred());
        tables.clear();
        tables.putAll(listTables());
        apply("");
    }

    /// Loads the same rules again if another program removed them.
    public synchronized void putBack() {
        var there = listTables();
        var lost = tables.entrySet().stream()
                .filter(table -> !sameMark(there.get(table.getKey()), table.getValue()))
                .map(table -> table.getValue().text())
                .collect(Collectors.joining());
        boolean whole = programs.run(LIMIT, "nft", "list", "set", "inet", plan.firewallTable(), "noinet")
                .ok();
        if (whole && lost.isEmpty()) {
            return;
        }
        log.atWarn().log("the firewall rules of this instance were missing; they are loaded again");
        apply(lost);
    }

    /// @param more rules that come into force with those of the instance
    private void apply(String more) {
        var loaded = nft(rules.text(barred, true, true) + more);
        telling = loaded.ok();
        if (telling) {
            return;
        }
        if (nft(rules.text(barred, true, false) + more).ok()) {
            log.atInfo()
                    .addKeyValue("said", loaded.output().strip())
                    .log("this kernel cannot tell of refused packets, which are in no egress log then");
            return;
        }
        log.atWarn()
                .addKeyValue("said", loaded.output().strip())
                .log("this kernel cannot count connections per sandbox, going on without that limit");
        require(rules.text(barred, false, false) + more);
    }

    /// Replaces the egress rules of a sandbox in one transaction. Takes effect at once, also on open connections.
    /// Repeating the same rules costs nothing.
    public synchronized void setEgress(Slot slot, Egress egress) {
        String veth = slot.veth();
        var wanted = EgressTable.of(plan, slot, egress, telling).orElse(null);
        var known = tables.get(veth);
        var script = new StringBuilder();
        if (wanted == null ? known != null : !sameMark(known, wanted)) {
            script.append(wanted == null ? removal(plan.egressTable(veth)) : wanted.text());
        }
        if (egress.internet() == barred.contains(veth)) {
            script.append(bar(veth, !egress.internet()));
        }
        if (!script.isEmpty()) {
            require(script.toString());
        }
        if (wanted == null) {
            tables.remove(veth);
        } else {
            tables.put(veth, wanted);
        }
        if (egress.internet()) {
            barred.remove(veth);
        } else {
            barred.add(veth);
        }
    }

    private static boolean sameMark(@Nullable EgressTable one, EgressTable other) {
        return one != null && one.mark().equals(other.mark());
    }

    /// Adding first makes the delete succeed whether or not it was there.
    private String bar(String veth, boolean bar) {
        String element = "element inet %s noinet { \"%s\" }\n".formatted(plan.firewallTable(), veth);
        return "add " + element + (bar ? "" : "delete " + element);
    }

    private static String removal(String table) {
        return "add table inet %1$s\ndelete table inet %1$s\n".formatted(table);
    }

    /// Removes the rules of all other links.
    synchronized void forgetOthers(Set<String> veths) {
        var script = new StringBuilder();
        var others = new TreeSet<>(barred);
        others.addAll(tables.keySet());
        others.removeAll(veths);
        for (String veth : others) {
            if (barred.contains(veth)) {
                script.append(bar(veth, false));
            }
            if (tables.containsKey(veth)) {
                script.append(removal(plan.egressTable(veth)));
            }
        }
        if (!script.isEmpty()) {
            require(script.toString());
        }
        barred.removeAll(others);
        tables.keySet().removeAll(others);
    }

    boolean isBarred(String veth) {
        return barred.contains(veth);
    }

    /// Whether the sandbox has rules of its own.
    boolean hasRules(String veth) {
        return tables.containsKey(veth);
    }

    /// Removes all tables of the instance, also those that another daemon of it loaded.
    public synchronized void remove() {
        var script = new StringBuilder();
        listTables().values().forEach(table -> script.append(removal(table.name())));
        require(script + removal(plan.firewallTable()));
        tables.clear();
        barred.clear();
    }

    /// Names of chains are read, and no set: those can be long.
    private Map<String, EgressTable> listTables() {
        var found = new TreeMap<String, EgressTable>();
        String table = "";
        for (String line : programs.run(LIMIT, "nft", "list", "chains", "inet")
                .output()
                .lines()
                .toList()) {
            String[] words = line.strip().split(" ");
            if (words.length > 2 && words[0].equals("table")) {
                table = words[2];
                String name = table;
                plan.vethOfTable(name).ifPresent(veth -> found.put(veth, new EgressTable(name, "", "")));
            } else if (words.length > 1 && words[0].equals("chain") && words[1].startsWith(EgressTable.MARK)) {
                String name = table;
                plan.vethOfTable(name).ifPresent(veth -> found.put(veth, new EgressTable(name, words[1], "")));
            }
        }
        return found;
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

    private void require(String input) {
        programs.require(LIMIT, input, List.of("nft", "-f", "-"));
    }

    private Programs.Result nft(String input) {
        return programs.run(LIMIT, input, List.of("nft", "-f", "-"));
    }
}
