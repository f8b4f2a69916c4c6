package dev.cay.node.process;

import java.time.Duration;

/// Settings of a {@link ProcessTable}.
///
/// @param logBytes   how much output of a process is kept, all its streams together
/// @param stall      a subscriber that takes nothing for so long, while the process waits for it, is disconnected
/// @param retention  how long clients can still connect to an ended process
/// @param inputLimit how long an input may wait for the process to read it
public record ProcessSettings(long logBytes, Duration stall, Duration retention, Duration inputLimit) {
    public static final ProcessSettings DEFAULT =
            new ProcessSettings(1 << 20, Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(60));
}
