package dev.cay.wire.node;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The files of one volume, for who is in no sandbox. No path and no link leads out of the volume.
///
/// Paths are absolute; the volume is `/`. Every call fails with a {@link dev.cay.wire.CayException}: NOT_FOUND for
/// what is not there, ALREADY_EXISTS, DISK_FULL when the volume or the machine is full, INVALID_ARGUMENT for what makes
/// no sense at such a file.
public interface VolumeContent {
    /// Whose something shall be, and who may use it.
    ///
    /// @param uid  as sandboxes count; null to leave it as it is, of something new: 0
    /// @param mode permissions; null to leave them as they are, of something new: the usual ones
    record Rights(
            @Nullable Integer uid,
            @Nullable Integer gid,
            @Nullable Integer mode) {}

    /// An open file.
    interface Content extends AutoCloseable {
        long size();

        /// As many bytes as the file had when it was opened, at most. Close the content, not the stream.
        InputStream stream();

        @Override
        void close();
    }

    VolumeEntry stat(String path);

    /// What lies in the directory, and below it down to `depth`; parents before children, by name.
    List<VolumeEntry> list(String path, int depth);

    /// @param force make parents too, and take a directory that is there for made
    VolumeEntry makeDirectory(String path, Rights rights, boolean force);

    Content read(String path);

    /// Writes a file from its beginning; returns when the disk has it. A new file that cannot be written to its end is
    /// removed.
    ///
    /// @param force make parents too, and write over a file that is there
    VolumeEntry write(String path, Rights rights, boolean force, InputStream content) throws IOException;

    VolumeEntry change(String path, Rights rights);

    /// Removes a file, or a directory with all below.
    void remove(String path);
}
