package dev.cay.wire.rest;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The progress of a collection.
///
/// @param status  `running`, `done` or `error`
/// @param reason  why it failed
/// @param count   how many things were removed so far, or would be
/// @param bytes   their size on disk
/// @param removed the removed things, from the requested offset
public record CollectionInfo(String status, @Nullable String reason, int count, long bytes, List<Removed> removed) {
    public CollectionInfo {
        removed = List.copyOf(removed);
    }

    /// One removed thing.
    public record Removed(String what, String name, long bytes) {}
}
