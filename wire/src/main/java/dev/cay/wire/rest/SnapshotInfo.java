package dev.cay.wire.rest;

import java.util.List;

/// A snapshot of a running sandbox.
///
/// @param snapshotID the id for creating sandboxes
/// @param names      empty without a name
public record SnapshotInfo(String snapshotID, List<String> names) {
    public SnapshotInfo {
        names = List.copyOf(names);
    }
}
