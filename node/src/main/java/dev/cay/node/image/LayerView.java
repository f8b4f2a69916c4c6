package dev.cay.node.image;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The merged view of several layers, as overlayfs would show it. Links are resolved as inside a sandbox, never out of
/// the layers.
///
/// @param layers their root directories, top first
public record LayerView(List<Path> layers) {
    private static final int MOST_LINKS = 40;
    private static final String OPAQUE = "trusted.overlay.opaque";
    private static final int CHARACTER_DEVICE = 0020000;
    private static final int TYPE = 0170000;

    public LayerView {
        layers = List.copyOf(layers);
    }

    /// A resolved path.
    ///
    /// @param path  without links and without a leading slash
    /// @param place the file on the host; null if it does not exist
    public record Seen(String path, @Nullable Path place) {}

    /// Resolves a path, following every link. A link loop resolves to nothing.
    public Seen find(String path) throws IOException {
        Deque<String> left = parts(path);
        var at = new ArrayList<String>();
        @Nullable Path place = layers.getLast();
        int links = 0;
        while (!left.isEmpty()) {
            String name = left.removeFirst();
            if (name.equals("..")) {
                if (!at.isEmpty()) {
                    at.removeLast();
                }
                continue;
            }
            var found = entry(at, name);
            if (found == null || !Files.isSymbolicLink(found) || links == MOST_LINKS) {
                at.add(name);
                place = found;
                continue;
            }
            links++;
            String target = Files.readSymbolicLink(found).toString();
            if (target.startsWith("/")) {
                at.clear();
            }
            var onward = new ArrayList<>(parts(target));
            Collections.reverse(onward);
            onward.forEach(left::addFirst);
        }
        return new Seen(String.join("/", at), place);
    }

    /// The topmost entry of a name in a directory that was found, itself if it is a link; null if there is none.
    private @Nullable Path entry(List<String> directory, String name) throws IOException {
        for (Path layer : layers) {
            var within = layer;
            boolean opaque = false;
            for (String part : directory) {
                within = within.resolve(part);
                if (!exists(within)) {
                    break;
                }
                if (!Files.isDirectory(within, LinkOption.NOFOLLOW_LINKS)) {
                    return null;
                }
                opaque |= isOpaque(within);
            }
            var entry = within.resolve(name);
            if (Files.isDirectory(within, LinkOption.NOFOLLOW_LINKS) && exists(entry)) {
                return isWhiteout(entry) ? null : entry;
            }
            if (opaque) {
                return null;
            }
        }
        return null;
    }

    /// The entries of a directory by name, each with its place on the host; a link is not followed.
    ///
    /// @param path as {@link #find} returns it
    public SortedMap<String, Path> list(String path) throws IOException {
        var entries = new TreeMap<String, Path>();
        Set<String> hidden = new HashSet<>();
        for (Path layer : layers) {
            var within = layer;
            boolean opaque = false;
            for (String part : parts(path)) {
                within = within.resolve(part);
                if (!exists(within)) {
                    break;
                }
                if (!Files.isDirectory(within, LinkOption.NOFOLLOW_LINKS)) {
                    return entries;
                }
                opaque |= isOpaque(within);
            }
            if (exists(within)) {
                addEntries(within, hidden, entries);
            }
            if (opaque) {
                break;
            }
        }
        return entries;
    }

    /// @param hidden names that are decided by a layer above
    private static void addEntries(Path directory, Set<String> hidden, Map<String, Path> entries) throws IOException {
        try (var found = Files.newDirectoryStream(directory)) {
            for (Path entry : found) {
                String name = String.valueOf(entry.getFileName());
                if (hidden.add(name) && !isWhiteout(entry)) {
                    entries.put(name, entry);
                }
            }
        }
    }

    private static Deque<String> parts(String path) {
        var parts = new ArrayDeque<>(Arrays.asList(path.split("/")));
        parts.removeIf(part -> part.isEmpty() || part.equals("."));
        return parts;
    }

    private static boolean exists(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isWhiteout(Path path) throws IOException {
        try {
            int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return (mode & TYPE) == CHARACTER_DEVICE
                    && (Long) Files.getAttribute(path, "unix:rdev", LinkOption.NOFOLLOW_LINKS) == 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static boolean isOpaque(Path directory) throws IOException {
        try (var file = FileCalls.open(directory.toString(), FileCalls.PATH | FileCalls.CLOEXEC, 0)) {
            return Attributes.read(file, OPAQUE).equals("y");
        } catch (ErrnoException e) {
            if (e.errno() == Errno.ENODATA) {
                return false;
            }
            throw e;
        }
    }
}
