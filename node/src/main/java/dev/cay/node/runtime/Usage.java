package dev.cay.node.runtime;

import java.time.Duration;

/// One reading of a container's cgroups, in bytes where not said otherwise.
///
/// @param cpuTime of its side sandboxes too
/// @param memory  what its processes hold; page cache that can be dropped at once is not in it
/// @param cache   page cache
/// @param oomKills how many of its processes the kernel killed for lack of memory, since it started
public record Usage(Duration cpuTime, long memory, long cache, int processes, long oomKills) {}
