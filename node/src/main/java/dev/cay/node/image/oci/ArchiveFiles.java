package dev.cay.node.image.oci;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The files of an image archive by name: of a tar file, compressed or not, or of a directory.
abstract sealed class ArchiveFiles implements AutoCloseable {
    private static final int MOST_FILES = 20_000;
    private static final int MOST_LINKS = 5;
    private static final int BUFFER = 256 << 10;

    /// Names that cannot lead out of the archive.
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]+(/[A-Za-z0-9._:-]+){0,4}");

    /// @param staging where a compressed archive is unpacked to
    static ArchiveFiles open(Path archive, Path staging, LayerLimits limits) throws IOException {
        if (Files.isDirectory(archive)) {
            return new OfDirectory(archive);
        }
        if (!Files.isRegularFile(archive)) {
            throw BadImage.because("there is no image archive at that place, or it is neither a file nor a directory");
        }
        var plain = uncompressed(archive, staging, limits);
        var channel = FileChannel.open(plain, StandardOpenOption.READ);
        try {
            return new OfTar(channel, limits);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static Path uncompressed(Path archive, Path staging, LayerLimits limits) throws IOException {
        try (var in = Files.newInputStream(archive);
                var content = LayerStream.uncompressed(in)) {
            if (content instanceof PushbackInputStream) {
                return archive;
            }
        }
        var plain = staging.resolve("archive.tar");
        try (var in = LayerStream.open(Files.newInputStream(archive), limits);
                var out = Files.newOutputStream(plain)) {
            in.transferTo(out);
        }
        return plain;
    }

    /// Opens a file; null if it does not exist.
    @Nullable
    InputStream find(String name) throws IOException {
        if (!NAME.matcher(name).matches() || name.contains("..")) {
            throw BadImage.because(
                    "the image archive speaks of a file that cannot be there: %s".formatted(BadImage.shown(name)));
        }
        return lookUp(name);
    }

    abstract @Nullable InputStream lookUp(String name) throws IOException;

    InputStream require(String name) throws IOException {
        var found = find(name);
        if (found == null) {
            throw BadImage.because("the image archive has no file %s".formatted(BadImage.shown(name)));
        }
        return found;
    }

    /// A small file as a whole; null if there is none.
    byte @Nullable [] read(String name, int most) throws IOException {
        try (var in = find(name)) {
            if (in == null) {
                return null;
            }
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw BadImage.because(
                        "the image archive's file %s has more than %,d bytes".formatted(BadImage.shown(name), most));
            }
            return bytes;
        }
    }

    @Override
    public abstract void close() throws IOException;

    /// An OCI layout on the disk. Links are not followed.
    private static final class OfDirectory extends ArchiveFiles {
        private final Path directory;

        private OfDirectory(Path directory) {
            this.directory = directory;
        }

        @Override
        @Nullable
        InputStream lookUp(String name) throws IOException {
            var file = directory.resolve(name);
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                return null;
            }
            return Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS);
        }

        @Override
        public void close() {}
    }

    /// A tar archive, of which only the offsets of files are read. Nothing is unpacked.
    private static final class OfTar extends ArchiveFiles {
        private final FileChannel archive;
        private final Map<String, Place> places = new HashMap<>();
        private final Map<String, String> links = new HashMap<>();

        private record Place(long offset, long size) {}

        private OfTar(FileChannel archive, LayerLimits limits) throws IOException {
            this.archive = archive;
            var tar = new TarReader(new BufferedInputStream(Channels.newInputStream(archive), BUFFER), limits);
            for (var entry = tar.next(); entry != null; entry = tar.next()) {
                var path = EntryPath.parse(entry.name(), entry.name());
                String name = String.join("/", path.names());
                if (entry.kind() == TarEntry.Kind.FILE && entry.sparse().isEmpty()) {
                    places.put(name, new Place(tar.position(), entry.size()));
                } else if (entry.kind() == TarEntry.Kind.SYMLINK && !path.isRoot()) {
                    String to = String.join("/", path.parent()) + "/" + entry.linkName();
                    links.put(
                            name,
                            String.join("/", EntryPath.parse(to, entry.name()).names()));
                }
                if (places.size() + links.size() > MOST_FILES) {
                    throw BadImage.because("the image archive has more than %,d files".formatted(MOST_FILES));
                }
            }
        }

        /// Older versions of Docker wrote a link for a layer that several images of an archive have.
        @Override
        @Nullable
        InputStream lookUp(String name) {
            String wanted = name;
            for (int i = 0; i < MOST_LINKS && links.containsKey(wanted); i++) {
                wanted = links.getOrDefault(wanted, "");
            }
            var place = places.get(wanted);
            return place == null ? null : new BufferedInputStream(new Part(place), BUFFER);
        }

        @Override
        public void close() throws IOException {
            archive.close();
        }

        private final class Part extends InputStream {
            private long position;
            private long left;

            private Part(Place place) {
                this.position = place.offset();
                this.left = place.size();
            }

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                if (left == 0) {
                    return -1;
                }
                int count = archive.read(ByteBuffer.wrap(into, offset, (int) Math.min(length, left)), position);
                if (count < 0) {
                    throw BadImage.because("the image archive is cut off");
                }
                position += count;
                left -= count;
                return count;
            }
        }
    }
}
