package dev.cay.node.runtime;

import dev.cay.wire.SandboxId;
import java.nio.file.Path;

/// A running container.
///
/// @param pid       of its first process, as the host counts
/// @param startTime of that process in clock ticks since boot; with the pid it names a process for certain
public record Container(SandboxId id, int pid, long startTime) {
    /// Whether its first process has ended, and with it all others.
    public boolean hasEnded() {
        return ProcessStat.read(pid).filter(stat -> stat.is(startTime)).isEmpty();
    }

    /// Its root directory. Everything below is hostile: resolve with `openat2` and `RESOLVE_IN_ROOT`, never by path.
    public Path root() {
        return Path.of("/proc", Integer.toString(pid), "root");
    }
}
