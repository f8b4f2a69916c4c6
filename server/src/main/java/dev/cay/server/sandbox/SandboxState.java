package dev.cay.server.sandbox;

import java.util.EnumSet;
import java.util.Set;

/// Where in its life a sandbox is.
public enum SandboxState {
    /// Asked of a node, not yet promised to anybody.
    STARTING,
    RUNNING,
    PAUSING,
    PAUSED,
    RESUMING,
    /// Over for good. The id is never used again.
    KILLED;

    /// What clients were told of and may still ask for.
    static final Set<SandboxState> ALIVE = Set.copyOf(EnumSet.of(RUNNING, PAUSING, PAUSED, RESUMING));

    /// Clients know only two states.
    String visible() {
        return switch (this) {
            case STARTING, RUNNING, RESUMING -> "running";
            case PAUSING, PAUSED, KILLED -> "paused";
        };
    }
}
