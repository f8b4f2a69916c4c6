package dev.cay.node.image.oci;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/// One entry of a tar archive. Names keep bytes that are not UTF-8, in the way of {@link dev.cay.node.linux.FileName}.
///
/// @param name       as it is written, with its slashes and dots
/// @param size       as programs see it, holes included; 0 for all but files
/// @param linkName   target of a link, otherwise empty
/// @param attributes extended attributes by name
/// @param sparse     the places of stored bytes in a file with holes; empty for a file without
record TarEntry(
        String name,
        Kind kind,
        int mode,
        long uid,
        long gid,
        long size,
        Instant modified,
        String linkName,
        long major,
        long minor,
        Map<String, byte[]> attributes,
        List<Chunk> sparse) {
    enum Kind {
        FILE,
        DIRECTORY,
        SYMLINK,
        HARD_LINK,
        CHARACTER_DEVICE,
        BLOCK_DEVICE,
        FIFO
    }

    /// A stretch of a sparse file that has bytes.
    record Chunk(long offset, long length) {}
}
