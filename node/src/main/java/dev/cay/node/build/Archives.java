package dev.cay.node.build;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/// Tells archives that ADD unpacks from other files, by what they hold.
final class Archives {
    private static final int HEADER = 512;
    private static final int MAGIC = 257;

    private Archives() {}

    static boolean isArchive(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        byte[] first;
        try (var in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            first = in.readNBytes(HEADER);
        }
        String name = String.valueOf(file.getFileName());
        if (begins(first, 0x1f, 0x8b)) {
            return isTar(uncompressed(file));
        }
        if (begins(first, 0x28, 0xb5, 0x2f, 0xfd)) {
            return name.endsWith(".tar.zst") || name.endsWith(".tzst");
        }
        boolean other = begins(first, 0xfd, '7', 'z', 'X', 'Z') || begins(first, 'B', 'Z', 'h');
        if (other && name.matches(".*\\.(tar\\.(xz|bz2)|txz|tbz2?)")) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "ADD cannot unpack %s; use an archive in gzip or zstd, or COPY and RUN tar".formatted(name));
        }
        return isTar(first);
    }

    private static byte[] uncompressed(Path file) throws IOException {
        try (var in =
                new GZIPInputStream(new BufferedInputStream(Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)))) {
            return in.readNBytes(HEADER);
        } catch (ZipException e) {
            return new byte[0];
        }
    }

    private static boolean isTar(byte[] header) {
        return header.length == HEADER && new String(header, MAGIC, 5, StandardCharsets.US_ASCII).equals("ustar");
    }

    private static boolean begins(byte[] bytes, int... magic) {
        for (int i = 0; i < magic.length; i++) {
            if (bytes.length <= i || (bytes[i] & 0xff) != magic[i]) {
                return false;
            }
        }
        return true;
    }
}
