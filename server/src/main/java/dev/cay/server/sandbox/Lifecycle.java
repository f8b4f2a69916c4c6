package dev.cay.server.sandbox;

import dev.cay.wire.node.Keep;
import java.time.Duration;

/// What happens to a sandbox when its time is over, and when somebody asks for it after that.
///
/// @param pause         it is paused, not killed
/// @param keepMemory    its memory is saved as well when nobody says otherwise
/// @param autoResume    requests to its ports let it go on
/// @param resumeSeconds how long it lives then
public record Lifecycle(boolean pause, boolean keepMemory, boolean autoResume, long resumeSeconds) {
    static final Duration LEAST_RESUME = Duration.ofMinutes(5);
    static final Lifecycle KILL = new Lifecycle(false, true, false, LEAST_RESUME.toSeconds());

    Lifecycle pausing(boolean wanted) {
        return new Lifecycle(wanted, keepMemory, autoResume, resumeSeconds);
    }

    Duration resumeTimeout() {
        return Duration.ofSeconds(resumeSeconds);
    }

    /// What a pause saves that nobody asked for: there is nobody to be told that it cannot be done, and all is better
    /// than nothing.
    Keep onTimeout() {
        return keepMemory ? Keep.MEMORY_IF_POSSIBLE : Keep.FILES;
    }

    /// What a pause saves whose caller did not say. Who did not insist on memory need not be refused for its sake.
    Keep onRequest() {
        return keepMemory ? Keep.MEMORY : Keep.MEMORY_IF_POSSIBLE;
    }
}
