package dev.cay.node.sandbox;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Timing;

/// Measures the phases of a create.
final class CreatePhases {
    private final Timing timing;

    CreatePhases(Meters meters) {
        this.timing = meters.timing(
                "cay_create_phase_seconds",
                "Parts of a create on the node: disk and network, container, guest and ports",
                "phase");
    }

    /// @return when the next phase began
    long done(String phase, long began) {
        timing.since(began, phase);
        return System.nanoTime();
    }
}
