package dev.cay.node.build;

import dev.cay.node.host.Programs;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;

/// Removes excluded files from a layer.
final class ExcludedPath {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private ExcludedPath() {}

    /// Removes a path. The layer is hostile, so a path that leads through one of its links is left alone.
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
