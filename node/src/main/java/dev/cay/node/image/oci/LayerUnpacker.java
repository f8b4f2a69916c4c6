package dev.cay.node.image.oci;

import com.github.luben.zstd.ZstdIOException;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipException;

/// Unpacks a layer's archive (tar, plain or in gzip or zstd) into a directory that overlayfs can use as a layer.
///
/// Whiteouts of the archive become those of overlayfs. The archive is hostile: every path stays below the directory,
/// and unneeded kinds of entries are refused with a message that names the entry. Blocks on the disk and on the
/// archive: call it only on platform threads.
public final class LayerUnpacker {
    private final LayerLimits limits;

    public LayerUnpacker(LayerLimits limits) {
        this.limits = limits;
    }

    /// The result of unpacking.
    ///
    /// @param diffId  digest of the uncompressed archive
    /// @param skipped names of device nodes that were left out; the first few
    public record Unpacked(Digest diffId, long entries, List<String> skipped) {
        public Unpacked {
            skipped = List.copyOf(skipped);
        }
    }

    /// @param layer  is read to its end and not closed
    /// @param rootfs an empty directory that nothing else uses
    /// @param below  roots of the layers below, the topmost first
    public Unpacked unpack(InputStream layer, Path rootfs, List<Path> below) throws IOException {
        try (var tree = new LayerTree(rootfs, below, limits.depth())) {
            var archive = LayerStream.open(layer, limits);
            var entries = new EntryWriter(tree, limits, archive::count);
            try (var ahead = ReadAhead.start(archive)) {
                var tar = new TarReader(ahead, limits);
                for (var entry = tar.next(); entry != null; entry = tar.next()) {
                    write(entries, entry, tar);
                }
                entries.finish();
                ahead.transferTo(OutputStream.nullOutputStream());
            }
            return new Unpacked(archive.finish(), entries.count(), entries.skipped());
        } catch (ZipException | EOFException e) {
            throw BadImage.because("the layer cannot be decompressed; it is damaged or cut off", e);
        } catch (ZstdIOException e) {
            throw BadImage.because("the layer cannot be decompressed; it is damaged", e);
        }
    }

    private static void write(EntryWriter entries, TarEntry entry, TarReader tar) throws IOException {
        try {
            entries.write(entry, tar);
        } catch (ErrnoException e) {
            if (e.errno() == Errno.ENOSPC || e.errno() == Errno.EDQUOT) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE, "the disk of the layer cache has no room for the image", e);
            }
            throw BadImage.entry(entry.name(), "could not be written (%s)".formatted(e.getMessage()), e);
        }
    }
}
