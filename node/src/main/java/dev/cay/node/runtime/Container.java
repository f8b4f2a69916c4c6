package dev.cay.node.runtime;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
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

    /// Whether CRIU works on it, perhaps after the end of the runc that started CRIU.
    boolean isTraced() {
        try {
            String status = Files.readString(Path.of("/proc", Integer.toString(pid), "status"));
            return !status.contains("\nTracerPid:\t0\n");
        } catch (IOException gone) {
            return false;
        }
    }

    /// Its root directory. Everything below is hostile: resolve with `openat2` and `RESOLVE_IN_ROOT`, never by path.
    public Path root() {
        return Path.of("/proc", Integer.toString(pid), "root");
    }
}
