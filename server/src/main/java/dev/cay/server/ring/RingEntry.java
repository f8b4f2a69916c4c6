package dev.cay.server.ring;

import org.jspecify.annotations.Nullable;

/// An entry of a {@link RingFile}, which gives its bytes on the ring's thread.
public interface RingEntry {
    /// @param first whether it begins a block, so that it must be readable without earlier entries
    /// @return null if it cannot be encoded relative to the previous entry, and must begin a block
    byte @Nullable [] bytes(boolean first);
}
