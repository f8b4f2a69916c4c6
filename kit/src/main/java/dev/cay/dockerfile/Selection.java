package dev.cay.dockerfile;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/// The files of the build context that one COPY or ADD takes.
///
/// @param sources in the order of the instruction, those of one pattern in the order of their names
/// @param entries of all sources, each path once, in the order of paths; a directory is before what it has
public record Selection(List<Matched> sources, List<Entry> entries) {
    public Selection {
        sources = List.copyOf(sources);
        entries = List.copyOf(entries);
    }

    /// A file or directory that a source matched. COPY takes the content of a directory, and a file as it is.
    ///
    /// @param path   relative to the context; empty for the context itself
    /// @param parent with `--parents`, the part of the path that is not made below the destination, by `/./`
    public record Matched(String path, boolean directory, String parent) {}

    /// @param path         relative to the context
    /// @param file         where the content is; not below `path` when a source was a link
    /// @param mode         permission bits
    /// @param link         what a symbolic link points to; otherwise empty
    /// @param mtimeSeconds since 1970
    public record Entry(String path, Path file, Kind kind, int mode, long size, long mtimeSeconds, String link) {
        /// SHA-256 of a file's content, in hexadecimal digits.
        public String contentHash() throws IOException {
            return HexFormat.of().formatHex(Selection.contentHash(file));
        }

        /// Writes the entry into an archive, by another name and with another owner.
        public void writeTo(TarWriter tar, TarWriter.Header header) throws IOException {
            switch (kind) {
                case DIRECTORY -> tar.directory(header);
                case LINK -> tar.link(header, link);
                case FILE -> {
                    try (var content = open(file)) {
                        tar.file(header, size, content);
                    }
                }
            }
        }
    }

    public enum Kind {
        FILE,
        DIRECTORY,
        LINK
    }

    /// A hash of paths, kinds, modes and contents for a cache key. Owners and times do not count.
    public String hash() throws IOException {
        var digest = sha256();
        for (var source : sources) {
            update(digest, source.path());
            update(digest, source.parent());
        }
        for (var entry : entries) {
            update(digest, entry.path());
            update(digest, entry.kind().name());
            update(digest, Integer.toString(entry.mode(), 8));
            update(digest, entry.link());
            if (entry.kind() == Kind.FILE) {
                digest.update(contentHash(entry.file()));
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /// Writes the entries as a tar archive with paths relative to the context, modes and times kept, uid and gid 0.
    /// The stream stays open.
    public void writeTar(OutputStream out) throws IOException {
        var tar = new TarWriter(out);
        for (var entry : entries) {
            entry.writeTo(tar, new TarWriter.Header(entry.path(), entry.mode(), 0, 0, entry.mtimeSeconds()));
        }
        tar.finish();
    }

    private static byte[] contentHash(Path file) throws IOException {
        var digest = sha256();
        var buffer = new byte[1 << 16];
        try (var in = open(file)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return digest.digest();
    }

    /// A file that became a link since it was selected is refused: it may lead out of the context.
    private static InputStream open(Path file) throws IOException {
        return Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS);
    }

    /// Hashes the text after its length, so the concatenation of two texts cannot equal that of two others.
    private static void update(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(4).putInt(bytes.length).flip());
        digest.update(bytes);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
