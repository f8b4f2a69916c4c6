package dev.cay.dockerfile;

import java.util.ArrayDeque;

/// Paths as text, always with `/`.
final class Paths {
    private Paths() {}

    /// Normalizes an absolute path: without `.`, `..` and empty parts. `..` above the root is the root.
    static String absolute(String path) {
        var parts = new ArrayDeque<String>();
        for (String part : path.split("/", -1)) {
            if (part.equals("..")) {
                parts.pollLast();
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.addLast(part);
            }
        }
        return "/" + String.join("/", parts);
    }

    /// Normalizes a relative path; the result is empty for the directory itself. A path that leaves the directory keeps
    /// its first `..`.
    static String relative(String path) {
        var parts = new ArrayDeque<String>();
        for (String part : path.split("/", -1)) {
            boolean up = part.equals("..");
            if (up && !parts.isEmpty() && !parts.getLast().equals("..")) {
                parts.removeLast();
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.addLast(part);
            }
        }
        return String.join("/", parts);
    }

    static boolean leaves(String relative) {
        return relative.equals("..") || relative.startsWith("../");
    }
}
