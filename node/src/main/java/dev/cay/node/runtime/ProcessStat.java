package dev.cay.node.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// What tells a process from another one that has its pid later.
record ProcessStat(char state, long startTime) {
    static Optional<ProcessStat> read(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The name in parentheses may contain anything.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Optional.of(new ProcessStat(fields[0].charAt(0), Long.parseLong(fields[19])));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    /// Whether it is that process, and alive.
    boolean is(long thatStartTime) {
        return startTime == thatStartTime && state != 'Z' && state != 'X';
    }
}
