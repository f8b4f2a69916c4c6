package dev.cay.wire.node;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A file, directory or link of a volume. A link is not followed.
///
/// @param path   below the root of the volume, which is `/`
/// @param mode   permissions with set-id and sticky bits
/// @param uid    as sandboxes count
/// @param target text of a link; null for anything else
public record VolumeEntry(
        String name,
        Type type,
        String path,
        long size,
        int mode,
        int uid,
        int gid,
        Instant accessed,
        Instant modified,
        Instant changed,
        @Nullable String target) {
    public enum Type {
        UNKNOWN,
        FILE,
        DIRECTORY,
        SYMLINK
    }
}
