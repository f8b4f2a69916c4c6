package dev.cay.node.process;

import dev.cay.life.SystemClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/// What deadlines of commands are told by: the time since boot, which nobody can set and which restarts of ours do not
/// change. A process does not outlive the machine's own; one that was saved does, so its deadlines move when it wakes.
public final class CommandClock {
    private CommandClock() {}

    public static Instant now() {
        return Instant.EPOCH.plus(SystemClock.only().sinceBoot());
    }

    /// Commands have the time they had left when the clock said `then`. File work, before there is a table.
    ///
    /// @param directory of a {@link ProcessTable}, kept while the sandbox slept
    public static void wake(Path directory, Instant then) throws IOException {
        ProcessFolder.moveDeadlines(directory, Duration.between(then, now()));
    }
}
