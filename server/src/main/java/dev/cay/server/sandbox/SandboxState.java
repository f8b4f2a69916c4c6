package dev.cay.server.sandbox;

import java.util.EnumSet;
import java.util.Set;

/// The state of a sandbox.
public enum SandboxState {
    /// The node was asked for it; no client knows it yet.
    STARTING,
    RUNNING,
    PAUSING,
    PAUSED,
    RESUMING,
    /// Ended. The id is never used again.
    KILLED;

    /// States in which clients know the sandbox and can use it.
    static final Set<SandboxState> ALIVE = Set.copyOf(EnumSet.of(RUNNING, PAUSING, PAUSED, RESUMING));

    /// Clients know only two states.
    String visible() {
        return switch (this) {
            case STARTING, RUNNING, RESUMING -> "running";
            case PAUSING, PAUSED, KILLED -> "paused";
        };
    }
}
