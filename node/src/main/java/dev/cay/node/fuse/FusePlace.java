package dev.cay.node.fuse;

import dev.cay.node.runtime.FuseMount;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/// A path in a sandbox at which a program may mount. The mount itself checks that the user owns the directory, and that
/// no link is on the path.
record FusePlace(String path) {
    private static final int LONGEST = 4000;

    /// Directories of the system, and those that the node and its guest need.
    private static final Set<String> SYSTEM =
            Set.of("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr");

    FusePlace {
        String[] names = path.split("/", -1);
        boolean plain = path.length() <= LONGEST
                && names.length > 1
                && names[0].isEmpty()
                && Arrays.stream(names)
                        .skip(1)
                        .noneMatch(name -> name.isEmpty() || name.equals(".") || name.equals(".."));
        if (!plain) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the directory must be given as a whole path without . and .., like /home/user/data");
        }
    }

    /// Refuses what belongs to the system, and what would hide another mount.
    void requireFree(List<FuseMount> mounts) {
        if (SYSTEM.contains(path.split("/")[1])) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "%s belongs to the system: mount it in a directory of your own, like /home/user/data"
                            .formatted(path));
        }
        for (var mount : mounts) {
            if (mount.path().equals(path) || mount.path().startsWith(path + "/")) {
                throw new CayException(
                        ErrorKind.CONFLICT, "there is a FUSE file system at %s already".formatted(mount.path()));
            }
        }
    }
}
