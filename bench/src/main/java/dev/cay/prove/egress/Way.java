package dev.cay.prove.egress;

import java.util.List;

/// A way around network rules.
///
/// @param title    what it is, for the table
/// @param function of `ways.py` that tries it
/// @param expected what must come of it
record Way(String title, String function, Expected expected) {
    /// What must come of a way, beside that it works without rules.
    enum Expected {
        /// The rules refuse it.
        REFUSED,
        /// The rules do not see it; with `inspect` they refuse it.
        INSPECTED,
        /// It works in no sandbox, with or without rules. The control is the same from the host.
        NEVER,
        /// It works in no sandbox. The control is a sandbox of a Cay whose operator opened the place.
        OPERATOR
    }

    static final List<Way> ALL = List.of(
            new Way("raw IP", "raw_address", Expected.REFUSED),
            new Way("another SNI", "other_sni", Expected.REFUSED),
            new Way("another SNI at an allowed address", "other_sni_at_allowed_address", Expected.REFUSED),
            new Way("no SNI", "no_sni", Expected.REFUSED),
            new Way("plain HTTP to another host", "plain_host", Expected.REFUSED),
            new Way("another Host on a kept connection", "host_changes", Expected.REFUSED),
            new Way("domain fronting", "fronting", Expected.INSPECTED),
            new Way("ECH behind an allowed name", "ech_behind_allowed_name", Expected.INSPECTED),
            new Way("ECH behind another name", "ech_behind_other_name", Expected.REFUSED),
            new Way("ECH: its keys by DNS", "ech_keys", Expected.REFUSED),
            new Way("DNS tunnel by TXT", "dns_tunnel", Expected.REFUSED),
            new Way("DNS tunnel by A over TCP", "dns_tunnel_by_addresses", Expected.REFUSED),
            new Way("TXT of an allowed name", "dns_text_of_allowed_name", Expected.REFUSED),
            new Way("foreign name server", "foreign_dns", Expected.REFUSED),
            new Way("foreign name server by TCP", "foreign_dns_by_tcp", Expected.REFUSED),
            new Way("DNS over HTTPS", "doh", Expected.REFUSED),
            new Way("DNS over TLS", "dot", Expected.REFUSED),
            new Way("QUIC", "quic", Expected.REFUSED),
            new Way("fragmented packets", "fragments", Expected.REFUSED),
            new Way("ICMP", "icmp", Expected.REFUSED),
            new Way("IPv6", "ipv6", Expected.NEVER),
            new Way("CONNECT", "connect", Expected.REFUSED),
            new Way("WebSocket", "websocket", Expected.REFUSED),
            new Way("redirect of an allowed host", "redirect", Expected.REFUSED),
            new Way("rebinding to a private address", "rebinding", Expected.OPERATOR),
            new Way("a neighbour by the edge inside", "neighbour", Expected.REFUSED),
            new Way("a neighbour by headers at the edge", "neighbour_by_headers", Expected.NEVER),
            new Way("a neighbour behind the own name", "neighbour_behind_own_name", Expected.REFUSED),
            new Way("a remote server of the MCP gateway", "mcp_gateway", Expected.REFUSED));
}
