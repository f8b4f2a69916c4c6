package dev.cay.node.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// The identity of a process, by which it differs from a later one with the same pid.
///
/// @param exiting whether it is ending: the first process of a sandbox waits there for all others
record ProcessStat(String name, char state, int session, boolean exiting, long startTime) {
    /// `PF_EXITING` of the kernel.
    private static final long EXITING = 4;

    static Optional<ProcessStat> read(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The name in parentheses may contain anything.
            int end = stat.lastIndexOf(')');
            String[] fields = stat.substring(end + 2).split(" ");
            return Optional.of(new ProcessStat(
                    stat.substring(stat.indexOf('(') + 1, end),
                    fields[0].charAt(0),
                    Integer.parseInt(fields[3]),
                    (Long.parseLong(fields[6]) & EXITING) != 0,
                    Long.parseLong(fields[19])));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    /// Whether it is that process, and alive.
    boolean is(long thatStartTime) {
        return startTime == thatStartTime && !exiting && !isDead();
    }

    boolean isDead() {
        return state == 'Z' || state == 'X';
    }
}
