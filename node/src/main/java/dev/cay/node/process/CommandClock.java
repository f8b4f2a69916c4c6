package dev.cay.node.process;

import dev.cay.life.SystemClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/// The clock of commands' deadlines: the time since boot, which nobody can set and which restarts of the daemon do not
/// change. A process does not outlive the machine's boot; a saved one does, so its deadlines are moved at the restore.
public final class CommandClock {
    private CommandClock() {}

    public static Instant now() {
        return Instant.EPOCH.plus(SystemClock.only().sinceBoot());
    }

    /// Moves the deadlines of a restored sandbox's commands, so that they have the time left that they had at `then`.
    /// Does file work, before there is a table.
    ///
    /// @param directory of a {@link ProcessTable}, kept while the sandbox was paused
    public static void wake(Path directory, Instant then) throws IOException {
        ProcessFolder.moveDeadlines(directory, Duration.between(then, now()));
    }
}
