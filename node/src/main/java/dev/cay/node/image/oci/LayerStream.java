package dev.cay.node.image.oci;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.security.MessageDigest;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPInputStream;

/// The uncompressed archive of a layer: detects the compression by the first bytes, computes the digest, and fails when
/// the archive exceeds the limits.
final class LayerStream extends InputStream {
    private static final int BUFFER = 64 << 10;
    private static final byte[] GZIP = {0x1f, (byte) 0x8b};
    private static final byte[] ZSTD = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd};
    /// The start of a skippable zstd frame. The first byte varies in its lower half.
    private static final byte[] ZSTD_SKIPPED = {0x50, 0x2a, 0x4d, 0x18};

    private final Source source;
    private final InputStream archive;
    private final LayerLimits limits;
    private final MessageDigest digest = Digest.begin();
    private final AtomicLong read = new AtomicLong();

    private LayerStream(Source source, InputStream archive, LayerLimits limits) {
        this.source = source;
        this.archive = archive;
        this.limits = limits;
    }

    static LayerStream open(InputStream layer, LayerLimits limits) throws IOException {
        var source = new Source(layer);
        return new LayerStream(source, uncompressed(source), limits);
    }

    /// Bytes as they are, or out of gzip or zstd.
    static InputStream uncompressed(InputStream source) throws IOException {
        var peeked = new PushbackInputStream(source, 4) {
            @Override
            public int available() {
                return 1; // GZIPInputStream looks for another member only if there seem to be bytes.
            }
        };
        byte[] first = peeked.readNBytes(4);
        peeked.unread(first);
        if (startsWith(first, GZIP)) {
            return new GZIPInputStream(peeked, BUFFER);
        }
        boolean skipped = first.length == 4 && (first[0] & 0xf0) == 0x50 && startsWith(first, 1, ZSTD_SKIPPED);
        return startsWith(first, ZSTD) || skipped ? zstd(peeked) : peeked;
    }

    /// The library puts a file into the directory for temporary files and loads it from there.
    private static InputStream zstd(InputStream compressed) throws IOException {
        try {
            return new ZstdInputStreamNoFinalizer(compressed);
        } catch (LinkageError e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "this host cannot load the library for zstd, in which the layer is", e);
        }
    }

    private static boolean startsWith(byte[] bytes, byte[] magic) {
        return bytes.length >= magic.length && startsWith(bytes, 0, magic);
    }

    private static boolean startsWith(byte[] bytes, int from, byte[] magic) {
        for (int i = from; i < magic.length; i++) {
            if (bytes[i] != magic[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int count = archive.read(into, offset, length);
        if (count > 0) {
            digest.update(into, offset, count);
            count(count);
        }
        return count;
    }

    /// Counts bytes that the layer needs beside those of its archive. Another thread may read meanwhile.
    void count(long bytes) {
        long all = read.addAndGet(bytes);
        if (all > limits.bytes()) {
            throw BadImage.because("the layer holds more than %,d bytes, which is the limit".formatted(limits.bytes()));
        }
        if (all > LayerLimits.RATIO_FROM && all / Math.max(1, source.read.get()) > limits.ratio()) {
            throw BadImage.because(
                    "the layer is compressed more than %,d to one, which looks like an attempt to fill the disk"
                            .formatted(limits.ratio()));
        }
    }

    /// Reads what follows the archive's end, which is part of the digest.
    Digest finish() throws IOException {
        byte[] rest = new byte[BUFFER];
        int count = read(rest, 0, rest.length);
        while (count >= 0) {
            count = read(rest, 0, rest.length);
        }
        return Digest.finish(digest);
    }

    @Override
    public void close() throws IOException {
        archive.close();
    }

    /// Counts compressed bytes.
    private static final class Source extends FilterInputStream {
        private final AtomicLong read = new AtomicLong();

        private Source(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int one = super.read();
            read.addAndGet(one < 0 ? 0 : 1);
            return one;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = super.read(into, offset, length);
            read.addAndGet(Math.max(0, count));
            return count;
        }
    }
}
