package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/// Layers with the operator's files, under `/opt/mcp`: the content of a directory of the host, or one file by its name.
///
/// They are copies, because a sandbox never sees the host; changed files make another layer. Only directories, regular
/// files, and links between them are copied. All files belong to root, and none is set-uid, whatever it is on the host.
public final class FileLayers {
    private static final String PLACE = "opt/mcp";

    /// Counts up when the same files make another layer.
    private static final String VERSION = "1";

    private static final long MOST_BYTES = 1L << 30;
    private static final int MOST_ENTRIES = 50_000;
    private static final String READABLE = "rw-r--r--";
    private static final String ENTERABLE = "rwxr-xr-x";

    private final LayerStore layers;

    public FileLayers(LayerStore layers) {
        this.layers = layers;
    }

    /// A file, directory or link to copy.
    private sealed interface Entry {
        /// Its path below the top.
        String name();

        record Folder(String name) implements Entry {}

        record Content(String name, Path from, boolean program, long size) implements Entry {}

        record Link(String name, Path target) implements Entry {}
    }

    /// Makes the layer unless it exists. Reads all files to compute its key.
    ///
    /// @param subject begins error messages; these do not name the host's path, because users read them
    /// @return the layer's key
    public String install(Path source, String subject) {
        try {
            var entries = list(source, subject);
            String key = key(entries);
            layers.build(key, rootfs -> {
                var place = fill(rootfs, entries);
                if (!key.equals(key(list(place, subject)))) {
                    throw new CayException(
                            ErrorKind.UNAVAILABLE, subject + " changed while it was being copied; try again");
                }
            });
            return key;
        } catch (IOException | UncheckedIOException e) {
            throw new CayException(
                    ErrorKind.FAILED,
                    "%s cannot be read (%s)".formatted(subject, e.getClass().getSimpleName()),
                    e);
        }
    }

    /// The entries in the order of their names, so that each directory comes before its content.
    private static List<Entry> list(Path source, String subject) throws IOException {
        if (!Files.exists(source)) {
            throw refused(subject, "names a path that does not exist on this host");
        }
        var top = source.toRealPath();
        if (!Files.isDirectory(top)) {
            return small(List.of(entry(top, top, String.valueOf(source.getFileName()), subject)), subject);
        }
        var entries = new ArrayList<Entry>();
        try (var below = Files.walk(top).skip(1).limit(MOST_ENTRIES + 1L)) {
            for (var path : (Iterable<Path>) below::iterator) {
                entries.add(entry(top, path, top.relativize(path).toString(), subject));
            }
        }
        entries.sort(Comparator.comparing(Entry::name));
        return small(entries, subject);
    }

    private static List<Entry> small(List<Entry> entries, String subject) {
        long bytes = entries.stream()
                .mapToLong(entry -> entry instanceof Entry.Content content ? content.size() : 0)
                .sum();
        if (bytes > MOST_BYTES || entries.size() > MOST_ENTRIES) {
            throw refused(
                    subject,
                    "holds more than %d MiB or %,d files, which is too much for a layer"
                            .formatted(MOST_BYTES >> 20, MOST_ENTRIES));
        }
        return entries;
    }

    private static Entry entry(Path top, Path path, String name, String subject) throws IOException {
        var attributes = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isDirectory()) {
            return new Entry.Folder(name);
        }
        if (attributes.isRegularFile()) {
            boolean program = attributes.permissions().contains(PosixFilePermission.OWNER_EXECUTE);
            return new Entry.Content(name, path, program, attributes.size());
        }
        if (!attributes.isSymbolicLink()) {
            throw refused(subject, "holds something that is no file, directory or link: " + name);
        }
        var target = Files.readSymbolicLink(path);
        if (target.isAbsolute() || !staysWithin(path, top)) {
            throw refused(subject, "holds a link that leads out of it, or nowhere: " + name);
        }
        return new Entry.Link(name, target);
    }

    /// Whether the link stays below the top. The kernel resolves it, because other links may be on the way.
    private static boolean staysWithin(Path link, Path top) {
        try {
            return link.toRealPath().startsWith(top);
        } catch (IOException nowhere) {
            return false;
        }
    }

    private static String key(List<Entry> entries) throws IOException {
        var inputs = new ArrayList<>(List.of(VERSION));
        for (var entry : entries) {
            inputs.addAll(
                    switch (entry) {
                        case Entry.Folder folder -> List.of("folder", folder.name());
                        case Entry.Content file ->
                            List.of(file.program() ? "program" : "file", file.name(), digest(file.from()));
                        case Entry.Link link ->
                            List.of("link", link.name(), link.target().toString());
                    });
        }
        return "mcp-files-" + LayerStore.hash(inputs);
    }

    private static String digest(Path file) throws IOException {
        try (var in = new DigestInputStream(
                Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS), MessageDigest.getInstance("SHA-256"))) {
            in.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(in.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path fill(Path rootfs, List<Entry> entries) throws IOException {
        var place = Files.createDirectories(rootfs.resolve(PLACE));
        allow(rootfs.resolve("opt"), ENTERABLE);
        allow(place, ENTERABLE);
        for (var entry : entries) {
            var target = place.resolve(entry.name());
            switch (entry) {
                case Entry.Folder _ -> allow(Files.createDirectory(target), ENTERABLE);
                case Entry.Content file ->
                    allow(
                            Files.copy(file.from(), target, LinkOption.NOFOLLOW_LINKS),
                            file.program() ? ENTERABLE : READABLE);
                case Entry.Link link -> Files.createSymbolicLink(target, link.target());
            }
        }
        return place;
    }

    /// Sets permissions whatever the daemon's umask is, because servers do not run as root.
    private static void allow(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    private static CayException refused(String subject, String what) {
        return new CayException(ErrorKind.FAILED, subject + " " + what);
    }
}
