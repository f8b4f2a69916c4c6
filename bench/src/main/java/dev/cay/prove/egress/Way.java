package dev.cay.prove.egress;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A way around network rules.
///
/// @param title    for the table
/// @param function of `ways.py` that tries it
/// @param expected what must come of it
/// @param setting  what is tried with which rules
record Way(String title, String function, Expected expected, Setting setting) {
    private static final String OPEN = "{}";
    private static final String RULED =
            "{\"allowOut\":[\"www.allowed.test\",\"rebind.allowed.test\"],\"denyOut\":[\"0.0.0.0/0\"]}";
    private static final Setting USUAL = Setting.of(RULED);
    private static final String ADDRESS_ALONE =
            "{\"allowOut\":[\"6.6.6.2\"],\"denyOut\":[\"0.0.0.0/0\"],\"observe\":true}";
    private static final String IN_PART = "{\"denyOut\":[\"6.6.6.3/32\"],\"observe\":true}";
    private static final String WITH_HEADER =
            "{\"allowOut\":[\"www.allowed.test\"],\"denyOut\":[\"0.0.0.0/0\"],\"rules\":{\"www.allowed.test\":[{\"transform\":{\"headers\":{\"X-Lab\":\"value\"}}}]}}";

    /// Rules for each column of the table, as the API takes them.
    ///
    /// @param open    where it must work
    /// @param control function of `ways.py` that is run there
    /// @param ports   how many local ports the host has for a connection; 0 for the usual number
    record Setting(String open, @Nullable String control, String ruled, String inspected, int ports) {
        static Setting of(String ruled) {
            return new Setting(OPEN, null, ruled, inspected(ruled), 0);
        }

        private static String inspected(String rules) {
            return rules.substring(0, rules.length() - 1) + ",\"inspect\":true}";
        }
    }

    Way(String title, String function, Expected expected) {
        this(title, function, expected, USUAL);
    }

    static String usualRules() {
        return USUAL.ruled();
    }

    static String usualInspection() {
        return USUAL.inspected();
    }

    /// What must come of a way, beside that it works without rules.
    enum Expected {
        /// The rules refuse it.
        REFUSED,
        /// The rules do not see it; with `inspect` they refuse it.
        INSPECTED,
        /// It works in no sandbox, with or without rules. The control is the same from the host.
        NEVER,
        /// It works in no sandbox. The control is a sandbox of a Cay whose operator opened the address.
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
            new Way("a remote server of the MCP gateway", "mcp_gateway", Expected.REFUSED),
            new Way("an authorization server that a remote MCP server names", "mcp_authorization", Expected.REFUSED),
            new Way("another authority in HTTP/2 behind an allowed SNI", "http2_fronting", Expected.INSPECTED),
            new Way("DNS tunnel under a list of addresses", "dns_tunnel", Expected.REFUSED, Setting.of(ADDRESS_ALONE)),
            new Way("a neighbour under rules that deny in part", "neighbour", Expected.REFUSED, Setting.of(IN_PART)),
            new Way(
                    "rules of another connection that has the same local port",
                    "shared_port",
                    Expected.REFUSED,
                    new Setting(WITH_HEADER, "header_by_tls", WITH_HEADER, Setting.inspected(WITH_HEADER), 64)));
}
