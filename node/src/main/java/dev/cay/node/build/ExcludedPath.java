package dev.cay.node.build;

import dev.cay.node.host.Programs;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;

/// Removes from a layer what shall not be in it.
final class ExcludedPath {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private ExcludedPath() {}

    /// The layer is a stranger's work: a path that leads through a link of it is left alone.
    ///
    /// @param path without links, relative to the layer
    static void remove(Programs programs, Path rootfs, String path) {
        var place = rootfs;
        for (String name : path.split("/")) {
            if (!Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS) || name.equals("..")) {
                return;
            }
            place = place.resolve(name);
        }
        if (!place.equals(rootfs) && Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            programs.require(LIMIT, "rm", "-rf", "--one-file-system", "--", place.toString());
        }
    }
}
