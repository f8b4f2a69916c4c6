package dev.cay.wire.node;

import org.jspecify.annotations.Nullable;

/// What was saved of a sandbox.
///
/// @param memory whether all that ran is in it
/// @param loss   why it is not, when it was wanted
public record Saved(boolean memory, @Nullable String loss) {
    public static final Saved WHOLE = new Saved(true, null);
    public static final Saved FILES = new Saved(false, null);
}
