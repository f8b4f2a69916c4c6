package dev.cay.wire.node;

import java.util.Locale;

/// What a paused sandbox outlives, weakest first.
public enum Durability {
    /// The sandbox is frozen in the memory of its machine. It outlives a crash of Cay; a reboot keeps its files alone.
    FROZEN,
    /// All that is kept of the sandbox is on the disk.
    SAVED;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
