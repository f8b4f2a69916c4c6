package dev.cay.wire.node;

import org.jspecify.annotations.Nullable;

/// What was saved of a sandbox.
///
/// @param memory whether the memory was saved
/// @param loss   why it was not, although it was wanted
public record Saved(boolean memory, @Nullable String loss) {
    public static final Saved WHOLE = new Saved(true, null);
    public static final Saved FILES = new Saved(false, null);
}
