package dev.cay.node.image.oci;

import java.time.Duration;

/// Limits of a layer's archive, checked while it is read.
///
/// @param bytes         of the uncompressed archive, and of files that are copied up from layers below
/// @param entries       files, directories, links and whiteouts
/// @param ratio         of uncompressed to compressed bytes, checked once {@link #RATIO_FROM} bytes were read
/// @param fileSize      of one file as programs see it, holes included
/// @param metadataBytes of long names and extended headers before one entry
/// @param depth         of nested directories
/// @param time          for unpacking, including waits for the download
public record LayerLimits(
        long bytes, long entries, int ratio, long fileSize, int metadataBytes, int depth, Duration time) {
    /// Small archives may be as dense as they like: they do no harm.
    static final long RATIO_FROM = 256L << 20;

    public static final LayerLimits DEFAULT =
            new LayerLimits(64L << 30, 2_000_000, 250, 1L << 40, 1 << 20, 512, Duration.ofMinutes(50));

    public LayerLimits {
        if (bytes < 1 || entries < 1 || ratio < 1 || fileSize < 1 || metadataBytes < 512 || depth < 1) {
            throw new IllegalArgumentException("limits of layers must be positive");
        }
    }
}
