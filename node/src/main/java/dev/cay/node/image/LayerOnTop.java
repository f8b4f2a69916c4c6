package dev.cay.node.image;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/// A layer that is written on top of others. Files are written where links of the lower layers lead, and new
/// directories get the attributes of the lower ones, because overlayfs shows the topmost.
///
/// @param rootfs its directory
/// @param view   the merged view of the lower layers
record LayerOnTop(Path rootfs, LayerView view) {
    private static final long MOST_BYTES = 8L << 20;

    /// The text of a lower file, if it is a file of reasonable size; else empty.
    String text(String path) throws IOException {
        var file = view.find(path).place();
        if (file == null || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > MOST_BYTES) {
            return "";
        }
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
        return text.isEmpty() ? "" : text + "\n";
    }

    boolean has(String path) throws IOException {
        return view.find(path).place() != null || Files.exists(place(path), LinkOption.NOFOLLOW_LINKS);
    }

    void write(String path, String text) throws IOException {
        write(path, text, "rw-r--r--");
    }

    void write(String path, String text, String mode) throws IOException {
        var file = Files.writeString(place(path), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    void link(String path, Path target) throws IOException {
        Files.createSymbolicLink(place(path), target);
    }

    /// A link from one thing that is written here to another.
    void linkWithin(String path, String target) throws IOException {
        var link = place(path);
        var directory = link.getParent();
        if (directory != null) {
            Files.createSymbolicLink(link, directory.relativize(place(target)));
        }
    }

    private Path place(String path) throws IOException {
        int slash = path.lastIndexOf('/');
        return directory(path.substring(0, slash)).resolve(path.substring(slash + 1));
    }

    /// Makes a directory, and those above it that are not here yet.
    Path directory(String path) throws IOException {
        if (path.isEmpty()) {
            return rootfs;
        }
        var seen = view.find(path);
        if (!seen.path().equals(path)) {
            return directory(seen.path());
        }
        int slash = path.lastIndexOf('/');
        var parent = directory(slash < 0 ? "" : path.substring(0, slash));
        var place = parent.resolve(path.substring(slash + 1));
        if (!Files.isDirectory(place)) {
            Files.createDirectory(place);
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
            var below = seen.place();
            if (below != null && Files.isDirectory(below, LinkOption.NOFOLLOW_LINKS)) {
                likeBelow(place, below);
            }
        }
        return place;
    }

    private static void likeBelow(Path place, Path below) throws IOException {
        for (String attribute : List.of("unix:uid", "unix:gid", "unix:mode")) {
            Files.setAttribute(place, attribute, Files.getAttribute(below, attribute));
        }
    }
}
