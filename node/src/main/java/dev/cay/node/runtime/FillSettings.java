package dev.cay.node.runtime;

import java.time.Duration;

/// When the memory of restored sandboxes is brought in while they run.
///
/// @param on         whether it ever is
/// @param leastBytes sandboxes with less saved memory are restored with all of it
/// @param rest       time between two steps of the background; more than zero only in tests and proofs
public record FillSettings(boolean on, long leastBytes, Duration rest) {
    private static final long LEAST = 8L << 20;

    /// Below, the programs that bring memory in cost more time than they save.
    private static final long WORTHWHILE = 64L << 20;

    public static final FillSettings OFF = new FillSettings(false, LEAST, Duration.ZERO);
    public static final FillSettings ON = new FillSettings(true, LEAST, Duration.ZERO);

    /// Where that takes less time.
    public static final FillSettings AUTO = new FillSettings(true, WORTHWHILE, Duration.ZERO);
}
