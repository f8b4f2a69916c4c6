package dev.cay.node.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The host resources of one instance. No two instances of a host may share any.
///
/// @param pid      of its daemon
/// @param began    start time of that process, in the kernel's ticks, because pids are reused
/// @param uidBase  first of its uids
/// @param uidCount how many
/// @param listen   addresses of its two ports
public record HostClaim(
        String instance,
        long pid,
        long began,
        String stateDir,
        String runDir,
        String range,
        long uidBase,
        long uidCount,
        List<String> listen,
        int port,
        int tlsPort) {
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");

    public HostClaim {
        listen = List.copyOf(listen);
    }

    /// The claim of this process.
    public static HostClaim of(HostPlan plan, Path stateDir, Path runDir, List<String> listen, int port, int tlsPort) {
        var process = HostProcess.current();
        return new HostClaim(
                plan.instance(),
                process.pid(),
                process.began(),
                real(stateDir),
                real(runDir),
                plan.range(),
                plan.uidBase(),
                plan.uidCount(),
                listen,
                port,
                tlsPort);
    }

    /// Why the two cannot be on one host, each reason a sentence that names the key of this one that must change.
    List<String> clashes(HostClaim other) {
        var found = new ArrayList<String>();
        String who = "instance \"%s\" (%s)".formatted(other.instance, other.state());
        if (instance.equals(other.instance)) {
            found.add("instance \"%s\" is the name of another Cay, with stateDir %s (%s); set another instance"
                    .formatted(instance, other.stateDir, other.state()));
        }
        if (stateDir.equals(other.stateDir)) {
            found.add("stateDir %s is that of %s; each needs its own stateDir".formatted(stateDir, who));
        }
        if (runDir.equals(other.runDir)) {
            found.add("runDir %s is that of %s; each needs its own runDir".formatted(runDir, who));
        }
        if (AddressRange.parse(range).overlaps(AddressRange.parse(other.range))) {
            found.add("network.range %s overlaps %s of %s; set network.range to addresses that are not in use"
                    .formatted(range, other.range, who));
        }
        if (uidBase < other.uidBase + other.uidCount && other.uidBase < uidBase + uidCount) {
            found.add(
                    "storage.uidBase %d gives sandboxes uids %d to %d, and %s has %d to %d; set storage.uidBase so that they differ"
                            .formatted(
                                    uidBase,
                                    uidBase,
                                    uidBase + uidCount - 1,
                                    who,
                                    other.uidBase,
                                    other.uidBase + other.uidCount - 1));
        }
        if (sharesAddress(other)) {
            addPort("http.port", port, other, who, found);
            addPort("http.tlsPort", tlsPort, other, who, found);
        }
        return found;
    }

    private static void addPort(String key, int port, HostClaim other, String who, List<String> found) {
        if (port == other.port || port == other.tlsPort) {
            found.add("%s %d is a port of %s; set another %s".formatted(key, port, who, key));
        }
    }

    private boolean sharesAddress(HostClaim other) {
        return Stream.concat(listen.stream(), other.listen.stream()).anyMatch(HostClaim::isWildcard)
                || listen.stream().anyMatch(other.listen::contains);
    }

    private static boolean isWildcard(String address) {
        return address.equals("0.0.0.0") || address.equals("::");
    }

    /// Whether its daemon runs, or sandboxes of it do. If neither, it was killed or the machine was, and it has no
    /// claim any more.
    boolean holds() {
        return daemonRuns() || sandboxesRun();
    }

    private String state() {
        return daemonRuns() ? "pid " + pid : "its sandboxes still run";
    }

    private boolean daemonRuns() {
        return new HostProcess(pid, began).runs();
    }

    private boolean sandboxesRun() {
        try (var hierarchies = Files.list(CGROUPS)) {
            return Stream.concat(Stream.of(CGROUPS), hierarchies)
                    .map(root -> root.resolve("cay-" + instance))
                    .filter(Files::isDirectory)
                    .anyMatch(HostClaim::hasProcesses);
        } catch (IOException _) {
            return false;
        }
    }

    /// Whether the group or one below it has processes, which are in the lowest groups.
    static boolean hasProcesses(Path group) {
        if (!text(group.resolve("cgroup.procs")).isBlank()) {
            return true;
        }
        try (var groups = Files.list(group)) {
            return groups.filter(Files::isDirectory).anyMatch(HostClaim::hasProcesses);
        } catch (IOException | UncheckedIOException _) {
            return false;
        }
    }

    /// Reads a file at once, because these files have no size.
    private static String text(Path file) {
        try (var in = Files.newInputStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException _) {
            return "";
        }
    }

    private static String real(Path directory) {
        try {
            return directory.toRealPath().toString();
        } catch (IOException _) {
            return directory.toAbsolutePath().normalize().toString();
        }
    }
}
