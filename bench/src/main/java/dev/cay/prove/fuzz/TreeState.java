package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/// The state of a directory tree, for detecting changes: inode, links, owner, mode, times and content.
///
/// @param entries by path
record TreeState(Map<Path, String> entries) {
    private static final int MOST_CONTENT = 4096;

    static TreeState of(Path tree) throws IOException {
        var entries = new TreeMap<Path, String>();
        try (var all = Files.walk(tree)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                entries.put(path, state(path));
            }
        }
        return new TreeState(entries);
    }

    private static String state(Path path) throws IOException {
        var status = Files.readAttributes(
                path, "unix:ino,nlink,uid,gid,mode,lastModifiedTime,ctime,size", LinkOption.NOFOLLOW_LINKS);
        boolean file = Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
        String content = file && Files.size(path) <= MOST_CONTENT ? Files.readString(path, ISO_8859_1) : "";
        return new TreeMap<>(status) + content;
    }

    /// The first difference; empty without one.
    String difference(TreeState later) {
        for (var entry : later.entries.entrySet()) {
            String old = entries.getOrDefault(entry.getKey(), "nothing");
            if (!old.equals(entry.getValue())) {
                return "%s is now %s, and was %s".formatted(entry.getKey(), entry.getValue(), old);
            }
        }
        for (Path path : entries.keySet()) {
            if (!later.entries.containsKey(path)) {
                return path + " is gone";
            }
        }
        return "";
    }
}
