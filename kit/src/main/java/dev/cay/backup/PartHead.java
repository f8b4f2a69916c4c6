package dev.cay.backup;

import dev.cay.wire.node.NodeBackup;

/// What stands before the bytes of a part.
///
/// @param name like a path; no two parts of a backup have the same
public record PartHead(String name, NodeBackup.Kind kind) {
    /// Of the list of all parts.
    static final String END = "end";
}
