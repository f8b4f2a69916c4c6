package dev.cay.node.process;

import java.time.Duration;

/// How a {@link ProcessTable} treats its processes and those who follow them.
///
/// @param logBytes    how much output of a process is kept, all its streams together
/// @param stall       a subscriber that takes nothing for so long, while the process waits for it, is cut off
/// @param retention   how long an ended process can still be connected to
/// @param inputLimit  how long an input may wait for the process to take it
public record ProcessSettings(long logBytes, Duration stall, Duration retention, Duration inputLimit) {
    public static final ProcessSettings DEFAULT =
            new ProcessSettings(1 << 20, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(60));
}
