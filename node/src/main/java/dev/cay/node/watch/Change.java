package dev.cay.node.watch;

import dev.cay.node.files.Entry;
import org.jspecify.annotations.Nullable;

/// Something changed in a watched directory.
///
/// @param name  relative to it, with slashes; `.` for the directory itself
/// @param entry what changed, if that was asked for and it is still there
public record Change(String name, Kind kind, @Nullable Entry entry) {
    public enum Kind {
        CREATE,
        WRITE,
        REMOVE,
        /// The entry was renamed or moved; its new name is reported as CREATE.
        RENAME,
        CHMOD
    }
}
