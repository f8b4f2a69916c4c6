package dev.cay.node.build;

import dev.cay.dockerfile.Selection.Entry;
import java.util.List;

/// What one source of a COPY or ADD names: a file, or a directory of which the content is taken.
///
/// @param name       what is made below a destination that is a directory; empty for what a directory has
/// @param prefix     of the entries' paths that is not made at the destination
/// @param keepOwners whether files keep their owners; otherwise they are root's
/// @param remote     whether it was fetched by a URL
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
