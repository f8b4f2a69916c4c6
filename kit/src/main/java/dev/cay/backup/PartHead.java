package dev.cay.backup;

import dev.cay.wire.node.NodeBackup;

/// The header of a part.
///
/// @param name like a path; no two parts of a backup have the same
public record PartHead(String name, NodeBackup.Kind kind) {
    /// Name of the list of all parts.
    static final String END = "end";
}
