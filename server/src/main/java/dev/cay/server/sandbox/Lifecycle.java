package dev.cay.server.sandbox;

import dev.cay.wire.node.Keep;
import java.time.Duration;

/// What happens to a sandbox when its timeout passes, and when requests come afterwards.
///
/// @param pause         whether it is paused, not killed
/// @param keepMemory    whether its memory is saved by default
/// @param autoResume    whether requests to its ports resume it
/// @param resumeSeconds how long it lives after such a resume
public record Lifecycle(boolean pause, boolean keepMemory, boolean autoResume, long resumeSeconds) {
    static final Duration LEAST_RESUME = Duration.ofMinutes(5);
    static final Lifecycle KILL = new Lifecycle(false, true, false, LEAST_RESUME.toSeconds());

    Lifecycle pausing(boolean wanted) {
        return new Lifecycle(wanted, keepMemory, autoResume, resumeSeconds);
    }

    Duration resumeTimeout() {
        return Duration.ofSeconds(resumeSeconds);
    }

    /// What a pause on timeout saves. It falls back to files, because there is nobody to report an error to.
    Keep onTimeout() {
        return keepMemory ? Keep.MEMORY_IF_POSSIBLE : Keep.FILES;
    }

    /// What a pause by request saves by default. Memory is required only if `keepMemory` is set; otherwise it is
    /// saved if possible.
    Keep onRequest() {
        return keepMemory ? Keep.MEMORY : Keep.MEMORY_IF_POSSIBLE;
    }
}
