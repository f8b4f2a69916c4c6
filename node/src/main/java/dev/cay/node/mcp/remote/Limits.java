package dev.cay.node.mcp.remote;

import java.time.Duration;

/// Time limits of a server.
///
/// @param first   for the answer that makes a connection
/// @param quick   for requests that need no work
/// @param longest for the answer to a request; callers usually give up before
/// @param turn    for the end of one of the open requests when there are as many as allowed
record Limits(Duration first, Duration quick, Duration longest, Duration turn) {
    static final Limits USUAL =
            new Limits(Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofHours(1), Duration.ofSeconds(10));
}
