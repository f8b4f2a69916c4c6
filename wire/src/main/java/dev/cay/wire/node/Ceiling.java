package dev.cay.wire.node;

import java.net.InetAddress;
import java.util.List;

/// The operator's rules for what no sandbox of this machine reaches, whatever its own rules allow.
///
/// @param allow addresses and ranges; if there are any, nothing else is reached
/// @param deny  addresses and ranges that are not reached; all of IPv4 means IPv6, too
/// @param names host names, and `*.name` for all below a name; if there are any, no other name is looked up
public record Ceiling(List<String> allow, List<String> deny, List<String> names) {
    public static final Ceiling NONE = new Ceiling(List.of(), List.of());

    public Ceiling {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
        names = List.copyOf(names);
    }

    /// A ceiling for addresses alone.
    public Ceiling(List<String> allow, List<String> deny) {
        this(allow, deny, List.of());
    }

    public boolean permits(InetAddress address) {
        if (!limits()) {
            return true;
        }
        var denied = AddressSet.of(deny);
        return !denied.holds(address)
                && !denied.hasAllIpv4()
                && (allow.isEmpty() || AddressSet.of(allow).holds(address));
    }

    /// Whether a host may be looked up. An address in place of a name is judged as an address.
    public boolean permitsName(String host) {
        return names.isEmpty()
                || HostNames.isAddress(host)
                || names.stream().anyMatch(name -> HostNames.match(name, host));
    }

    /// Whether it refuses any address.
    public boolean limits() {
        return !allow.isEmpty() || !deny.isEmpty();
    }
}
