package dev.cay.wire.node;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A destination that a sandbox tried to reach, one entry for all equal attempts.
///
/// @param protocol `tls`, `http`, `tcp` or `dns`, as far as the first bytes showed it; `tcp`, `udp`, `icmp` or `ip-N`
/// for a
///                 packet that the firewall refused, of which there were at least so many attempts; `mcp` for a
/// connection that the
///                 node makes to a remote MCP server, of which no bytes are counted
/// @param name     the requested host; null if none
/// @param address  that was connected to, or that the sandbox chose if the attempt was refused; null for a DNS query
/// @param allowed  whether the rules allowed it; says nothing about the server's answer
/// @param match    the kind of rule that decided: `domain`, `address`, or `none`
/// @param attempts how many
/// @param sent     bytes from the sandbox
/// @param received bytes to the sandbox
public record EgressEntry(
        Instant firstSeen,
        Instant lastSeen,
        String protocol,
        @Nullable String name,
        @Nullable String address,
        int port,
        boolean allowed,
        String match,
        long attempts,
        long sent,
        long received) {}
