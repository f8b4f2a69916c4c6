package dev.cay.node.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// A certain process. Its number alone does not name it, as numbers come again.
///
/// @param began when it began, in the kernel's ticks since boot; 0 for a process that is not there
public record HostProcess(long pid, long began) {
    private static final int STATE = 0;
    private static final int BEGAN = 19;

    public static HostProcess of(long pid) {
        return new HostProcess(
                pid, fields(pid).map(fields -> Long.parseLong(fields[BEGAN])).orElse(0L));
    }

    public static HostProcess current() {
        return of(ProcessHandle.current().pid());
    }

    /// The form that {@link #toString} gives; empty for any other text.
    public static Optional<HostProcess> parse(String text) {
        return text.matches("\\d{1,10}-\\d{1,18}")
                ? Optional.of(new HostProcess(
                        Long.parseLong(text.substring(0, text.indexOf('-'))),
                        Long.parseLong(text.substring(text.indexOf('-') + 1))))
                : Optional.empty();
    }

    /// Whether it runs. A zombie does not: it has ended, and only its parent has not asked for its status yet.
    public boolean runs() {
        return began > 0
                && fields(pid)
                        .filter(fields -> Long.parseLong(fields[BEGAN]) == began)
                        .filter(fields -> !"ZX".contains(fields[STATE]) || hasOtherThreads())
                        .isPresent();
    }

    /// The first thread of a process that is being ended is a zombie while others are still on their way out.
    private boolean hasOtherThreads() {
        try (var threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return threads.count() > 1;
        } catch (IOException _) {
            return false;
        }
    }

    /// The fields of `/proc/PID/stat` after the name, which may contain anything.
    private static Optional<String[]> fields(long pid) {
        // Read at once, because these files have no size.
        try (var in = Files.newInputStream(Path.of("/proc", Long.toString(pid), "stat"))) {
            String stat = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return Optional.of(stat.substring(stat.lastIndexOf(')') + 1).strip().split(" "))
                    .filter(fields -> fields.length > BEGAN);
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return pid + "-" + began;
    }
}
