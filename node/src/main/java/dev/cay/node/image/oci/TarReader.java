package dev.cay.node.image.oci;

import dev.cay.node.linux.FileName;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads a tar archive entry by entry, in constant memory: v7, ustar, GNU and PAX, with long names and sparse files.
///
/// The archive is hostile. Names and attributes are taken as bytes, and the metadata before an entry is limited.
/// Where formats leave a choice, this reads what Go's `archive/tar` reads, as images are made and checked with that.
final class TarReader {
    private static final int MOST_METADATA_ENTRIES = 16;
    private static final int MOST_CHUNKS = 100_000;
    private static final long MOST_SECONDS = 1L << 40;

    private final InputStream in;
    private final LayerLimits limits;
    private final byte[] block = new byte[TarHeader.SIZE];

    /// Bytes of the archive that were read.
    private long position;
    /// Stored bytes of the current entry that were not read, and the padding after them.
    private long remaining;

    private long padding;

    TarReader(InputStream in, LayerLimits limits) {
        this.in = in;
        this.limits = limits;
    }

    /// The next entry; null at the end of the archive. Skips the unread rest of the entry before.
    @Nullable
    TarEntry next() throws IOException {
        var pax = PaxRecords.NONE;
        String longName = "";
        String longLink = "";
        for (int metadata = 0; ; metadata++) {
            var header = nextHeader();
            if (header == null) {
                return null;
            }
            if (metadata > MOST_METADATA_ENTRIES) {
                throw BadImage.because("the layer's archive has too many extended headers before one entry");
            }
            switch (header.type()) {
                case 'x', 'X' -> pax = PaxRecords.parse(metadata(header));
                case 'g' -> metadata(header); // Docker ignores these too; git writes a comment into one.
                case 'L' -> longName = longText(header);
                case 'K' -> longLink = longText(header);
                default -> {
                    return entry(header, pax, longName, longLink);
                }
            }
        }
    }

    /// Stored bytes of the current entry, without holes; -1 after the last.
    int read(byte[] into, int offset, int length) throws IOException {
        if (remaining == 0) {
            return -1;
        }
        int count = in.read(into, offset, (int) Math.min(length, remaining));
        if (count < 0) {
            throw cut();
        }
        position += count;
        remaining -= count;
        return count;
    }

    /// How many bytes of the archive were read: the offset of the current entry's content.
    long position() {
        return position;
    }

    private @Nullable TarHeader nextHeader() throws IOException {
        skip(remaining + padding);
        remaining = 0;
        padding = 0;
        if (!fillBlock() || empty()) {
            return null; // A second empty block should follow, but not all writers care.
        }
        return TarHeader.of(block);
    }

    private boolean empty() {
        for (byte b : block) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    private void content(long size) {
        if (size < 0) {
            throw BadImage.because("the layer's archive has an entry of negative size");
        }
        remaining = size;
        padding = -size & (TarHeader.SIZE - 1);
    }

    private byte[] metadata(TarHeader header) throws IOException {
        long size = header.size();
        if (size < 0 || size > limits.metadataBytes()) {
            throw BadImage.because("the layer's archive has an extended header of %,d bytes; the limit is %,d"
                    .formatted(size, limits.metadataBytes()));
        }
        content(size);
        byte[] bytes = new byte[(int) size];
        for (int filled = 0; filled < bytes.length; ) {
            filled += read(bytes, filled, bytes.length - filled);
        }
        return bytes;
    }

    private String longText(TarHeader header) throws IOException {
        byte[] bytes = metadata(header);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return FileName.text(Arrays.copyOf(bytes, end));
    }

    private TarEntry entry(TarHeader header, PaxRecords pax, String longName, String longLink) throws IOException {
        String name = pax.text("path", longName.isEmpty() ? header.name() : longName);
        name = pax.text("GNU.sparse.name", name);
        String link = pax.text("linkpath", longLink.isEmpty() ? header.linkName() : longLink);
        var kind = kind(header.type(), name);
        long size = 0;
        List<TarEntry.Chunk> sparse = List.of();
        if (header.type() == '0' || header.type() == '\0') {
            content(pax.number("size", header.size()));
        }
        if (kind == TarEntry.Kind.FILE) {
            content(pax.number("size", header.size()));
            size = remaining;
            var map = sparseMap(header, pax, name);
            if (map != null) {
                sparse = map;
                size = sparseSize(header, pax);
                requireSense(map, size, name);
            }
        }
        if (size < 0 || size > limits.fileSize()) {
            throw BadImage.entry(
                    name, "says that it has %,d bytes; the limit for a file is %,d".formatted(size, limits.fileSize()));
        }
        return new TarEntry(
                name,
                kind,
                (int) header.mode() & 0xfff,
                pax.number("uid", header.uid()),
                pax.number("gid", header.gid()),
                size,
                pax.modified(time(header.modified(), name)),
                link,
                header.major(),
                header.minor(),
                pax.attributes(),
                sparse);
    }

    private static Instant time(long seconds, String name) {
        if (Math.abs(seconds) > MOST_SECONDS) {
            throw BadImage.entry(name, "has an impossible time");
        }
        return Instant.ofEpochSecond(seconds);
    }

    private static TarEntry.Kind kind(char type, String name) {
        return switch (type) {
            // In old archives without a type for directories, a slash at the end marks one.
            case '0', '\0' -> name.endsWith("/") ? TarEntry.Kind.DIRECTORY : TarEntry.Kind.FILE;
            case '7', 'S' -> TarEntry.Kind.FILE;
            case '1' -> TarEntry.Kind.HARD_LINK;
            case '2' -> TarEntry.Kind.SYMLINK;
            case '3' -> TarEntry.Kind.CHARACTER_DEVICE;
            case '4' -> TarEntry.Kind.BLOCK_DEVICE;
            case '5' -> TarEntry.Kind.DIRECTORY;
            case '6' -> TarEntry.Kind.FIFO;
            default -> throw BadImage.entry(name, "is of a type that images do not have: " + BadImage.shown("" + type));
        };
    }

    private @Nullable List<TarEntry.Chunk> sparseMap(TarHeader header, PaxRecords pax, String name) throws IOException {
        if (header.type() == 'S') {
            return gnuMap(header);
        }
        if (pax.number("GNU.sparse.major", 0) == 1) {
            return mapBeforeContent(name);
        }
        return pax.sparse();
    }

    private static long sparseSize(TarHeader header, PaxRecords pax) {
        long size = pax.number("GNU.sparse.realsize", pax.number("GNU.sparse.size", -1));
        return size < 0 && header.type() == 'S' ? header.sparseSize() : size;
    }

    /// The old form: four pairs in the header, 21 in each block that follows.
    private List<TarEntry.Chunk> gnuMap(TarHeader header) throws IOException {
        var chunks = new ArrayList<TarEntry.Chunk>();
        for (int i = 0; i < 4; i++) {
            chunks.add(header.sparseChunk(i));
        }
        boolean more = header.sparseGoesOn();
        while (more) {
            requireBlock();
            for (int i = 0; i < 21; i++) {
                chunks.add(TarHeader.chunk(block, 24 * i));
            }
            more = block[504] != 0;
            requireFew(chunks.size());
        }
        chunks.removeIf(chunk -> chunk.length() == 0);
        return chunks;
    }

    /// The newest form: decimal numbers in lines before the content, filled up to a whole block.
    private List<TarEntry.Chunk> mapBeforeContent(String name) throws IOException {
        var lines = new Lines(name);
        long count = lines.number();
        requireFew(count);
        var chunks = new ArrayList<TarEntry.Chunk>();
        for (long i = 0; i < count; i++) {
            chunks.add(new TarEntry.Chunk(lines.number(), lines.number()));
        }
        return chunks;
    }

    /// Numbers in lines, read by whole blocks of the entry's content.
    private final class Lines {
        private final String name;
        private int at = TarHeader.SIZE;

        private Lines(String name) {
            this.name = name;
        }

        long number() throws IOException {
            var digits = new StringBuilder();
            for (char c = next(); c != '\n'; c = next()) {
                if (digits.append(c).length() > 19) {
                    throw BadImage.entry(name, "has a broken map of its holes");
                }
            }
            return PaxRecords.decimal(digits.toString());
        }

        private char next() throws IOException {
            if (at == TarHeader.SIZE) {
                if (remaining < TarHeader.SIZE) {
                    throw BadImage.entry(name, "has a broken map of its holes");
                }
                requireBlock();
                remaining -= TarHeader.SIZE;
                at = 0;
            }
            return (char) (block[at++] & 0xff);
        }
    }

    private static void requireFew(long chunks) {
        if (chunks > MOST_CHUNKS) {
            throw BadImage.because("the layer's archive has a file with more than %,d holes".formatted(MOST_CHUNKS));
        }
    }

    /// Checks that the chunks are in order, within the file, and as many bytes as are stored.
    private void requireSense(List<TarEntry.Chunk> chunks, long size, String name) {
        long end = 0;
        long stored = 0;
        for (var chunk : chunks) {
            if (chunk.length() < 0 || chunk.offset() < end || chunk.offset() > size - chunk.length()) {
                throw BadImage.entry(name, "has a broken map of its holes");
            }
            end = chunk.offset() + chunk.length();
            stored += chunk.length();
        }
        if (stored != remaining) {
            throw BadImage.entry(name, "has a map of its holes that does not fit its content");
        }
    }

    private void skip(long bytes) throws IOException {
        byte[] sink = new byte[(int) Math.min(bytes, 65536)];
        for (long left = bytes; left > 0; ) {
            int count = in.read(sink, 0, (int) Math.min(left, sink.length));
            if (count < 0) {
                throw cut();
            }
            position += count;
            left -= count;
        }
    }

    private void requireBlock() throws IOException {
        if (!fillBlock()) {
            throw cut();
        }
    }

    /// False if the archive ends before the block.
    private boolean fillBlock() throws IOException {
        int filled = in.readNBytes(block, 0, block.length);
        position += filled;
        if (filled != 0 && filled != block.length) {
            throw cut();
        }
        return filled != 0;
    }

    private static RuntimeException cut() {
        return BadImage.because("the layer's archive is cut off");
    }
}
