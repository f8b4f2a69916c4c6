package dev.cay.wire.node;

import org.jspecify.annotations.Nullable;

/// What is kept of a paused sandbox, or what a snapshot holds.
///
/// @param memory whether the memory is kept
/// @param loss   why it is not, although it was wanted
/// @param frozen set while the memory is only in the frozen sandbox; null when the disk has all that is kept
public record Saved(
        boolean memory, @Nullable String loss, @Nullable Frozen frozen) {
    public static final Saved WHOLE = new Saved(true, null, null);
    public static final Saved FILES = new Saved(false, null, null);
    public static final Saved FROZEN = new Saved(true, null, new Frozen(null));

    /// A frozen sandbox that is yet to be saved.
    ///
    /// @param reason why the last try to save it failed; null before the first
    public record Frozen(@Nullable String reason) {}

    /// The files alone, although more was wanted.
    public static Saved filesOnly(String loss) {
        return new Saved(false, loss, null);
    }

    /// A frozen sandbox that could not be saved.
    public static Saved notYet(String reason) {
        return new Saved(true, null, new Frozen(reason));
    }

    public Durability durability() {
        return frozen == null ? Durability.SAVED : Durability.FROZEN;
    }
}
