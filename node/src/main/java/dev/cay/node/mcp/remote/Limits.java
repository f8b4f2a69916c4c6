package dev.cay.node.mcp.remote;

import java.time.Duration;

/// How long a server may take.
///
/// @param first   for the answer that makes a connection
/// @param quick   for what needs no work
/// @param longest for the answer to a request; who asked usually gives up before
/// @param turn    for one of the requests under way to end when there are as many as may be
record Limits(Duration first, Duration quick, Duration longest, Duration turn) {
    static final Limits USUAL =
            new Limits(Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofHours(1), Duration.ofSeconds(10));
}
