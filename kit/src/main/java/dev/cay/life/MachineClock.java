package dev.cay.life;

import java.time.Duration;
import java.time.InstantSource;

/// The two clocks of a machine: the wall clock, which people and time servers set, and one that only moves forward.
public interface MachineClock extends InstantSource {
    /// Time since the machine was started. It cannot be set, and it includes the time that the machine slept.
    Duration sinceBoot();
}
