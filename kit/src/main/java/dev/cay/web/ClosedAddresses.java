package dev.cay.web;

import java.util.List;

/// The addresses that nothing a sandbox asks for may be sent to: one list for the firewall, which judges packets of
/// sandboxes, and for connections that the node opens on behalf of a sandbox.
public final class ClosedAddresses {
    /// IPv4 ranges that are not public, the retired relays of 6to4, and 168.63.129.16, the public address at which one
    /// cloud serves secrets of its virtual machines. Sorted, without overlaps.
    public static final List<String> IPV4 = List.of(
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4");

    private ClosedAddresses() {}
}
