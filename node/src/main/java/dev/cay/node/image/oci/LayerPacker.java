package dev.cay.node.image.oci;

import dev.cay.dockerfile.TarWriter;
import dev.cay.dockerfile.TarWriter.Header;
import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes a layer of the store as the archive that images have for a layer: what overlayfs marks as hidden becomes an
/// entry `.wh.NAME`, a directory that hides all below gets `.wh..wh..opq`. No link is followed.
final class LayerPacker {
    private static final String OVERLAY = "trusted.overlay.";
    private static final String OPAQUE_MARK = OVERLAY + "opaque";
    private static final int DIRECTORY = FileCalls.READ | FileCalls.DIRECTORY | FileCalls.NOFOLLOW | FileCalls.CLOEXEC;

    private final TarWriter tar;

    /// Names by inode, because several names may be one file.
    private final Map<Long, String> files = new HashMap<>();

    private LayerPacker(OutputStream out) {
        this.tar = new TarWriter(out);
    }

    static void write(Path layer, OutputStream out) throws IOException {
        var packer = new LayerPacker(out);
        packer.walk(layer, "");
        packer.tar.finish();
    }

    /// Packs in the order of names, so that equal layers make equal archives.
    ///
    /// @param prefix of names in the archive
    private void walk(Path directory, String prefix) throws IOException {
        try (Descriptor open = FileCalls.open(directory.toString(), DIRECTORY, 0)) {
            var names = new ArrayList<String>();
            for (var some = FileCalls.nextNames(open); !some.isEmpty(); some = FileCalls.nextNames(open)) {
                names.addAll(some);
            }
            names.sort(null);
            for (String name : names) {
                var status = FileCalls.stat(open, name);
                if (status.whiteout()) {
                    mark(prefix + Whiteouts.PREFIX + name, status);
                } else {
                    write(open, directory.resolve(name), prefix + name, status);
                }
            }
        }
    }

    private void mark(String name, FileStatus status) throws IOException {
        tar.file(header(name, 0, status, Map.of()), 0, InputStream.nullInputStream());
    }

    private void write(Descriptor parent, Path path, String name, FileStatus status) throws IOException {
        String last = String.valueOf(path.getFileName());
        if (last.startsWith(Whiteouts.PREFIX)) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "%s cannot be in an image: names that begin with %s mean something else there"
                            .formatted(BadImage.shown(name), Whiteouts.PREFIX));
        }
        var attributes = attributes(parent, last);
        boolean opaque = isYes(attributes.remove(OPAQUE_MARK));
        attributes.keySet().removeIf(key -> key.startsWith(OVERLAY));
        var header = header(name, status.permissions(), status, attributes);
        if (status.directory()) {
            tar.directory(header);
            if (opaque) {
                mark(name + "/" + Whiteouts.OPAQUE, status);
            }
            walk(path, name + "/");
        } else if (status.symlink()) {
            tar.link(header, Files.readSymbolicLink(path).toString());
        } else if (status.regular()) {
            writeFile(path, header, status);
        } else if (status.fifo()) {
            tar.fifo(header);
        }
        // Devices and sockets mean nothing in another sandbox.
    }

    private void writeFile(Path path, Header header, FileStatus status) throws IOException {
        String first = files.putIfAbsent(status.inode(), header.name());
        if (first != null) {
            tar.hardLink(header, first);
            return;
        }
        try (var content = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
            tar.file(header, status.size(), content);
        }
    }

    private static Header header(String name, int mode, FileStatus status, Map<String, byte[]> attributes) {
        long modified = Math.max(0, status.modified().getEpochSecond());
        return new Header(name, mode, status.uid(), status.gid(), modified, attributes);
    }

    private static Map<String, byte[]> attributes(Descriptor parent, String name) throws IOException {
        var attributes = new HashMap<String, byte[]>();
        for (String attribute : Attributes.names(parent, name)) {
            attributes.put(attribute, Attributes.readBytes(parent, name, attribute));
        }
        return attributes;
    }

    private static boolean isYes(byte @Nullable [] value) {
        return value != null && new String(value, StandardCharsets.UTF_8).equals("y");
    }
}
