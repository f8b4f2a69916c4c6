package dev.cay.prove.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// How many descriptors this process has open, to see that inputs leave none open.
final class OwnDescriptors {
    /// The JVM opens some files for itself.
    private static final int SPARE = 12;

    private long held;

    /// @return what is wrong since the last call; empty for nothing
    String more() throws IOException {
        long before = held;
        try (var entries = Files.list(Path.of("/proc/self/fd"))) {
            held = entries.count();
        }
        return before > 0 && held > before + SPARE ? "%d descriptors before, %d after".formatted(before, held) : "";
    }
}
