package dev.cay.node.build;

import dev.cay.dockerfile.Selection.Entry;
import java.util.List;

/// The files of one source of a COPY or ADD: a file, or the content of a directory.
///
/// @param name       the name below a destination that is a directory; empty for a directory's content
/// @param prefix     of the entries' paths that is not made at the destination
/// @param keepOwners whether files keep their owners; otherwise root owns them
/// @param remote     whether it was downloaded from a URL
record PickedFiles(
        String name, boolean directory, String prefix, List<Entry> entries, boolean keepOwners, boolean remote) {
    PickedFiles {
        entries = List.copyOf(entries);
    }

    /// The place of an entry below the destination; empty for the source itself.
    String below(Entry entry) {
        String path = entry.path();
        return path.length() <= prefix.length() ? "" : path.substring(prefix.isEmpty() ? 0 : prefix.length() + 1);
    }
}
