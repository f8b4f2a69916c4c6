package dev.cay.wire.rest;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How far a collection is.
///
/// @param status  `running`, `done` or `error`
/// @param reason  why it failed
/// @param count   how many things were removed so far, or would be
/// @param bytes   what these took of the disk
/// @param removed these, from the offset that was asked for
public record CollectionInfo(String status, @Nullable String reason, int count, long bytes, List<Removed> removed) {
    public CollectionInfo {
        removed = List.copyOf(removed);
    }

    /// One of them.
    public record Removed(String what, String name, long bytes) {}
}
