package dev.cay.node.process;

import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import java.time.Duration;

/// The threads that work for all process tables of a node.
///
/// @param poller    watches descriptors and moves output
/// @param logs      read and rotate log files: page-cache reads of a few microseconds, but a virtual thread must not
///                  risk even those, so a small pool does them, 32 KiB at a time
/// @param guests    read and write the pipes that guests lent, which never block
/// @param terminals for {@link SharedTerminals}; apart from the others because root inside can make a call block
public record Workers(FdPoller poller, HostThreads logs, HostThreads guests, HostThreads terminals) {
    /// How long a caller waits for work on log files.
    static final Duration FILE_LIMIT = Duration.ofSeconds(20);
}
