package dev.cay.wire.node;

import java.net.InetAddress;
import java.util.List;

/// The operator's rules for what no sandbox of this machine reaches, whatever its own rules allow.
///
/// @param allow addresses and ranges; if there are any, nothing else is reached
/// @param deny  addresses and ranges that are not reached; all of IPv4 means IPv6, too
public record Ceiling(List<String> allow, List<String> deny) {
    public static final Ceiling NONE = new Ceiling(List.of(), List.of());

    public Ceiling {
        allow = List.copyOf(allow);
        deny = List.copyOf(deny);
    }

    public boolean permits(InetAddress address) {
        var denied = AddressSet.of(deny);
        return !denied.holds(address)
                && !denied.hasAllIpv4()
                && (allow.isEmpty() || AddressSet.of(allow).holds(address));
    }

    /// Whether it refuses anything.
    public boolean limits() {
        return !allow.isEmpty() || !deny.isEmpty();
    }
}
