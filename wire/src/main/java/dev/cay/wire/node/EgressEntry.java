package dev.cay.wire.node;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What a sandbox tried to reach outside, one entry for all attempts that are alike.
///
/// @param protocol `tls`, `http`, `tcp` or `dns`, as far as the first bytes showed it
/// @param name     the host that was asked for; null if none was
/// @param address  that was connected to, or that the sandbox chose if the attempt was refused; null for a
///                 question for a name
/// @param allowed  whether the rules allowed it; says nothing about the server's answer
/// @param match    what decided: `domain`, `address`, or `none` for what no rule names
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
