package dev.cay.server.quota;

import dev.cay.wire.CayException;
import dev.cay.wire.node.Resources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The sum of the resources of a team's, or a key's, running sandboxes.
public record Use(int sandboxes, int vcpus, long memoryMB) {
    /// `Retry-After` for a full team: a sandbox may end at any time.
    private static final Duration SOON = Duration.ofSeconds(1);

    /// Refuses another sandbox of this size if a limit is reached.
    ///
    /// @param owner the owner of the limits, for messages
    public void requireRoom(Limits limits, Resources wanted, String owner) {
        require(owner, "sandboxes at once", limits.sandboxes(), sandboxes, 1);
        require(owner, "vCPUs of running sandboxes", limits.vcpus(), vcpus, wanted.cpuCount());
        require(owner, "MB of memory of running sandboxes", limits.memoryMB(), memoryMB, wanted.memoryMB());
    }

    private static void require(String owner, String what, @Nullable Integer limit, long used, int wanted) {
        if (limit != null && used + wanted > limit) {
            throw CayException.exhausted(
                    "%s may have %d %s: %d are in use and this takes %d more; end or pause sandboxes, or let the operator raise the limit"
                            .formatted(owner, limit, what, used, wanted),
                    SOON);
        }
    }
}
