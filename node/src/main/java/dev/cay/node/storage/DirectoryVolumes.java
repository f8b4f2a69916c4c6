package dev.cay.node.storage;

import dev.cay.node.runtime.Command;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// Plain directories, for hosts without btrfs. No limit, and a copy copies.
///
/// Trees are handled by the host's tools: a sandbox can nest directories deeper than a path is long.
final class DirectoryVolumes implements Volumes {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Override
    public boolean limited() {
        return false;
    }

    @Override
    public void create(Path volume, long limit) {
        try {
            for (Path directory : List.of(volume, volume.resolve("upper"), volume.resolve("work"))) {
                Files.createDirectory(directory);
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make the sandbox's disk", e);
        }
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        new Command("copying the sandbox's disk", LIMIT, "cp", "-a", "--reflink=auto", from.toString(), to.toString())
                .run();
    }

    @Override
    public void delete(Path volume) {
        new Command("deleting the sandbox's disk", LIMIT, "rm", "-rf", "--one-file-system", volume.toString()).run();
    }

    @Override
    public long used(Path volume) {
        String answer =
                new Command("reading the sandbox's disk use", LIMIT, "du", "-s", "-x", "-B1", volume.toString()).run();
        return Long.parseLong(answer.split("\\s")[0]);
    }
}
