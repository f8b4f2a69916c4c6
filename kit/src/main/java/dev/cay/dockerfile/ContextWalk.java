package dev.cay.dockerfile;

import dev.cay.dockerfile.Selection.Entry;
import dev.cay.dockerfile.Selection.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Lists what is below a source, without following links.
final class ContextWalk {
    private static final int MOST_ENTRIES = 500_000;
    private static final int DEEPEST = 500;

    private final Path root;
    private final IgnoreRules rules;
    private final IgnoreRules excludes;
    private final Map<String, Entry> entries;

    /// @param excludes relative to each source
    /// @param entries  where to add, by path
    ContextWalk(Path root, IgnoreRules rules, IgnoreRules excludes, Map<String, Entry> entries) {
        this.root = root;
        this.rules = rules;
        this.excludes = excludes;
        this.entries = entries;
    }

    /// @param path   the name of the source
    /// @param actual where it is; elsewhere in the context when the source is a link
    /// @return false for a directory of which everything is ignored
    boolean add(String path, Path actual) throws IOException {
        if (!Files.isDirectory(actual, LinkOption.NOFOLLOW_LINKS)) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            if (!excludes.ignores(name, false)) {
                addEntry(path, actual);
            }
            return true;
        }
        int before = entries.size();
        addContent(path, "", actual, 0);
        boolean ignored = rules.deciding(root.relativize(actual).toString()).isPresent();
        if (ignored && entries.size() == before) {
            return false;
        }
        if (!path.isEmpty()) {
            addEntry(path, actual);
        }
        return true;
    }

    /// @param below the directory relative to the source
    private void addContent(String path, String below, Path actual, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new IOException("directories are nested more than %d times".formatted(DEEPEST));
        }
        for (String name : names(actual)) {
            var child = actual.resolve(name);
            String inSource = join(below, name);
            String inContext = root.relativize(child).toString();
            boolean directory = Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS);
            if (rules.ignores(inContext, directory) || excludes.ignores(inSource, directory)) {
                continue;
            }
            if (!directory) {
                addEntry(join(path, name), child);
                continue;
            }
            // A directory that is only walked for exceptions is an entry when something below it is one.
            boolean own = rules.deciding(inContext).isEmpty()
                    && excludes.deciding(inSource).isEmpty();
            int before = entries.size();
            addContent(join(path, name), inSource, child, depth + 1);
            if (own || entries.size() > before) {
                addEntry(join(path, name), child);
            }
        }
    }

    private void addEntry(String path, Path file) throws IOException {
        if (path.indexOf('\uFFFD') >= 0) {
            throw new IOException("the name %s is not UTF-8".formatted(Excerpt.of(path)));
        }
        if (entries.size() >= MOST_ENTRIES) {
            throw new IOException("more than %,d files; add patterns to .dockerignore".formatted(MOST_ENTRIES));
        }
        var basic = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        // Docker leaves out sockets, pipes and devices too.
        if (basic.isOther()) {
            return;
        }
        int mode = (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
        long mtime = seconds(basic.lastModifiedTime());
        var entry = basic.isSymbolicLink()
                ? new Entry(
                        path,
                        file,
                        Kind.LINK,
                        mode,
                        0,
                        mtime,
                        Files.readSymbolicLink(file).toString())
                : basic.isDirectory()
                        ? new Entry(path, file, Kind.DIRECTORY, mode, 0, mtime, "")
                        : new Entry(path, file, Kind.FILE, mode, basic.size(), mtime, "");
        entries.putIfAbsent(path, entry);
    }

    private static long seconds(FileTime time) {
        return Math.floorDiv(time.toMillis(), 1000L);
    }

    /// The names in a directory, sorted; none for a file.
    static List<String> names(Path directory) throws IOException {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (var children = Files.list(directory)) {
            return children.map(child -> child.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    /// Adds the directory and all below it.
    static void directories(Path root, String directory, Set<String> found) throws IOException {
        if (!Files.isDirectory(root.resolve(directory), LinkOption.NOFOLLOW_LINKS)
                || found.size() > MOST_ENTRIES
                || !found.add(directory)) {
            return;
        }
        for (String name : names(root.resolve(directory))) {
            directories(root, join(directory, name), found);
        }
    }

    private static String join(String directory, String name) {
        return directory.isEmpty() ? name : directory + "/" + name;
    }
}
