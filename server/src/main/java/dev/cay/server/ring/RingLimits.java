package dev.cay.server.ring;

import java.time.Duration;

/// Limits of a {@link RingFile}.
///
/// @param blockBytes size of a block; no entry can be larger than that less {@link Blocks#HEADER}
/// @param mostBytes  most bytes of the file
/// @param keyBytes   most bytes of one key
/// @param kept       blocks not written to for so long are used again before the file grows
public record RingLimits(int blockBytes, long mostBytes, long keyBytes, Duration kept) {}
