package dev.cay.node.process;

import java.util.Locale;

/// One of a process's output streams.
public enum Channel {
    STDOUT(32 << 10),
    STDERR(32 << 10),
    PTY(16 << 10);

    private final int chunk;

    Channel(int chunk) {
        this.chunk = chunk;
    }

    /// The most that is read and sent at once.
    int chunk() {
        return chunk;
    }

    /// The name in files and in the header that asks for old output.
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
