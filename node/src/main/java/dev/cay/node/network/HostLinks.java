package dev.cay.node.network;

import dev.cay.node.host.AddressRange;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// The network interfaces and addresses of an instance on the host.
public final class HostLinks {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Path INTERFACES = Path.of("/sys/class/net");
    private static final Pattern ADDRESS = Pattern.compile("inet ([0-9.]+)/(\\d+)");

    private final HostPlan plan;
    private final Programs programs;

    public HostLinks(HostPlan plan, Programs programs) {
        this.plan = plan;
        this.programs = programs;
    }

    /// Names of the instance's interfaces, without these.
    public List<String> others(Set<String> claimed) {
        try (var links = Files.list(INTERFACES)) {
            return links.map(link -> link.getFileName().toString())
                    .filter(name -> name.startsWith(plan.interfacePrefix()) && !claimed.contains(name))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot list network interfaces", e);
        }
    }

    /// Deleting may lose a race against the kernel, which takes the link away with the sandbox's namespace.
    public void delete(String veth) {
        if (!Files.exists(INTERFACES.resolve(veth))) {
            return;
        }
        var deleted = programs.run(LIMIT, "ip", "link", "delete", veth);
        if (!deleted.ok() && Files.exists(INTERFACES.resolve(veth))) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "cannot delete link %s: %s".formatted(veth, deleted.output().strip()));
        }
    }

    /// Removes addresses of the instance's range from the host, but this one.
    public void removeAddresses(String except) {
        var listed = programs.run(LIMIT, "ip", "-o", "-4", "address", "show", "dev", "lo");
        var range = AddressRange.parse(plan.range());
        for (var match : ADDRESS.matcher(listed.output()).results().toList()) {
            String address = match.group(1);
            if (AddressRange.parse(address).overlaps(range) && !address.equals(except)) {
                programs.require(LIMIT, "ip", "address", "delete", address + "/" + match.group(2), "dev", "lo");
            }
        }
    }
}
