package dev.cay.life;

import java.time.Duration;
import java.time.InstantSource;

/// The two clocks of a machine: the wall clock, which people and time servers set, and one that only moves forward.
public interface MachineClock extends InstantSource {
    /// Time since the machine was started. Nobody can set it, and it counts the time the machine slept.
    Duration sinceBoot();
}
