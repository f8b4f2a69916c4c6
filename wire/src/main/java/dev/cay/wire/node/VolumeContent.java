package dev.cay.wire.node;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The files of one volume, for access without a sandbox. No path and no link leads out of the volume.
///
/// Paths are absolute; the volume is `/`. Every call fails with a {@link dev.cay.wire.CayException}: NOT_FOUND for a
/// missing file, ALREADY_EXISTS, DISK_FULL when the volume or the machine is full, INVALID_ARGUMENT for an operation
/// that the kind of file does not support.
public interface VolumeContent {
    /// Owner and permissions.
    ///
    /// @param uid  as sandboxes count; null to keep it, for a new file: 0
    /// @param mode permissions; null to keep them, for a new file: the usual ones
    record Rights(
            @Nullable Integer uid,
            @Nullable Integer gid,
            @Nullable Integer mode) {}

    /// An open file.
    interface Content extends AutoCloseable {
        long size();

        /// The content, at most as many bytes as the file had when it was opened. Close the content, not the stream.
        InputStream stream();

        @Override
        void close();
    }

    VolumeEntry stat(String path);

    /// The entries of the directory down to `depth`; parents before children, by name.
    List<VolumeEntry> list(String path, int depth);

    /// @param force make parents too, and accept an existing directory
    VolumeEntry makeDirectory(String path, Rights rights, boolean force);

    Content read(String path);

    /// Writes a file from its start; returns when the disk has it. A new file that cannot be written completely is
    /// removed.
    ///
    /// @param force make parents too, and overwrite an existing file
    VolumeEntry write(String path, Rights rights, boolean force, InputStream content) throws IOException;

    VolumeEntry change(String path, Rights rights);

    /// Removes a file, or a directory with all below.
    void remove(String path);
}
