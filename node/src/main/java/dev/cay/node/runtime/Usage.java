package dev.cay.node.runtime;

import java.time.Duration;

/// One measurement of a container's cgroups, in bytes unless stated otherwise.
///
/// @param cpuTime  includes its side sandboxes
/// @param memory   memory of its processes, without page cache that can be dropped at once
/// @param cache    page cache
/// @param oomKills how many of its processes the kernel killed for lack of memory, since it started
public record Usage(Duration cpuTime, long memory, long cache, int processes, long oomKills) {}
