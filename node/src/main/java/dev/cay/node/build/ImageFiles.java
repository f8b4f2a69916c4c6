package dev.cay.node.build;

import dev.cay.dockerfile.Glob;
import dev.cay.dockerfile.Selection;
import dev.cay.dockerfile.Selection.Entry;
import dev.cay.dockerfile.Selection.Kind;
import dev.cay.dockerfile.Selection.Matched;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Files of an image, as `COPY --from` names them. Nothing runs for it, and links of the image lead to where they lead
/// in a sandbox.
record ImageFiles(LayerView view) {
    private static final int MOST_ENTRIES = 1_000_000;
    private static final int DEEPEST = 500;

    /// The files that a source matches.
    ///
    /// @param source a path or a pattern
    List<PickedFiles> pick(String source) throws IOException {
        // The directories reached so far, by the last name on the way.
        Map<String, String> reached = new LinkedHashMap<>(Map.of("", ""));
        boolean pattern = false;
        for (String part : source.split("/")) {
            if (part.isEmpty() || part.equals(".")) {
                continue;
            }
            pattern |= isPattern(part);
            Map<String, String> next = new LinkedHashMap<>();
            for (String directory : reached.keySet()) {
                for (String name : names(directory, part)) {
                    var seen = view.find(directory + "/" + name);
                    if (seen.place() != null) {
                        next.put(seen.path(), name);
                    }
                }
            }
            reached = next;
        }
        if (reached.isEmpty()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    pattern ? "no file there matches %s".formatted(source) : "there is no %s".formatted(source));
        }
        var picked = new ArrayList<PickedFiles>();
        for (var each : reached.entrySet()) {
            picked.add(picked(each.getKey(), each.getValue()));
        }
        return picked;
    }

    private List<String> names(String directory, String part) throws IOException {
        if (!isPattern(part)) {
            return List.of(part);
        }
        try {
            var glob = Glob.path(part);
            return view.list(directory).keySet().stream().filter(glob::matches).toList();
        } catch (Glob.BadPattern e) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the pattern %s %s".formatted(part, e.why()), e);
        }
    }

    private static boolean isPattern(String part) {
        return part.chars().anyMatch(c -> "*?[\\".indexOf(c) >= 0);
    }

    private PickedFiles picked(String path, String name) throws IOException {
        var place = view.find(path).place();
        var entries = new ArrayList<Entry>();
        boolean directory = path.isEmpty() || (place != null && Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS));
        if (directory) {
            addContent(path, entries, 0);
        } else if (place != null) {
            add(path, place, entries);
        }
        return new PickedFiles(directory ? "" : name, directory, path, entries, true, false);
    }

    private void addContent(String directory, List<Entry> entries, int depth) throws IOException {
        if (depth > DEEPEST || entries.size() > MOST_ENTRIES) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "more than %,d files, or more than %d directories deep".formatted(MOST_ENTRIES, DEEPEST));
        }
        for (var child : view.list(directory).entrySet()) {
            String path = directory.isEmpty() ? child.getKey() : directory + "/" + child.getKey();
            add(path, child.getValue(), entries);
            if (Files.isDirectory(child.getValue(), LinkOption.NOFOLLOW_LINKS)) {
                addContent(path, entries, depth + 1);
            }
        }
    }

    private static void add(String path, Path file, List<Entry> entries) throws IOException {
        var basic = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (basic.isOther()) {
            return;
        }
        var kind = basic.isSymbolicLink() ? Kind.LINK : basic.isDirectory() ? Kind.DIRECTORY : Kind.FILE;
        entries.add(new Entry(
                path,
                file,
                kind,
                (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777,
                kind == Kind.FILE ? basic.size() : 0,
                Math.floorDiv(basic.lastModifiedTime().toMillis(), 1000L),
                kind == Kind.LINK ? Files.readSymbolicLink(file).toString() : ""));
    }

    /// A hash of names, modes, contents and owners.
    static String hash(PickedFiles picked) throws IOException {
        var inputs = new ArrayList<String>();
        inputs.add(new Selection(
                        List.of(new Matched(picked.prefix(), picked.directory(), picked.name())), picked.entries())
                .hash());
        for (var entry : picked.entries()) {
            inputs.add("%s:%s"
                    .formatted(
                            Files.getAttribute(entry.file(), "unix:uid", LinkOption.NOFOLLOW_LINKS),
                            Files.getAttribute(entry.file(), "unix:gid", LinkOption.NOFOLLOW_LINKS)));
        }
        return LayerStore.hash(inputs);
    }
}
