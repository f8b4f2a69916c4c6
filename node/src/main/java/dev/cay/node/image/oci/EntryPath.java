package dev.cay.node.image.oci;

import dev.cay.node.linux.FileName;
import java.util.ArrayList;
import java.util.List;

/// The place of an entry below the root, as names of directories and the last name. Slashes at the begin, `.` and
/// `..` are resolved as in a chroot: `..` of the root is the root.
///
/// @param leadsOut whether a `..` went beyond the root on the way
record EntryPath(List<String> names, boolean leadsOut) {
    private static final int LONGEST_NAME = 255;
    private static final int LONGEST_PATH = 4096;

    /// @param entry the entry whose name or link has the text, for messages
    static EntryPath parse(String text, String entry) {
        if (text.indexOf('\0') >= 0) {
            throw BadImage.entry(entry, "has a NUL byte in a name");
        }
        if (text.isEmpty()) {
            throw BadImage.entry(entry, "has an empty name");
        }
        if (FileName.bytes(text).length >= LONGEST_PATH) {
            throw BadImage.entry(entry, "has a name of more than %,d bytes".formatted(LONGEST_PATH - 1));
        }
        var names = new ArrayList<String>();
        boolean out = false;
        for (String name : text.split("/")) {
            if (name.equals("..")) {
                out |= names.isEmpty();
                if (!names.isEmpty()) {
                    names.removeLast();
                }
            } else if (!name.isEmpty() && !name.equals(".")) {
                if (FileName.bytes(name).length > LONGEST_NAME) {
                    throw BadImage.entry(entry, "has a name of more than %d bytes".formatted(LONGEST_NAME));
                }
                names.add(name);
            }
        }
        return new EntryPath(List.copyOf(names), out);
    }

    boolean isRoot() {
        return names.isEmpty();
    }

    List<String> parent() {
        return names.subList(0, names.size() - 1);
    }

    String last() {
        return names.getLast();
    }
}
