package dev.cay.wire.rest;

import java.util.List;

/// A sandbox that was saved while it went on.
///
/// @param snapshotID what a sandbox can be created from
/// @param names      empty when nobody gave it a name
public record SnapshotInfo(String snapshotID, List<String> names) {
    public SnapshotInfo {
        names = List.copyOf(names);
    }
}
