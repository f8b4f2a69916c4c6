package dev.cay.server.ring;

import java.time.Duration;

/// How large a {@link RingFile} and its parts may be.
///
/// @param blockBytes   size of a block; no entry can be larger than that less {@link Blocks#HEADER}
/// @param mostBytes    size of the file at most
/// @param keyBytes     how much one key may take of it
/// @param kept         blocks not written to for so long are used again before the file grows
public record RingLimits(int blockBytes, long mostBytes, long keyBytes, Duration kept) {}
