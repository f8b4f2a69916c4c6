package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.FileCalls;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;

/// Copies the files that a sandbox changed into a layer: with owner, mode, times, hard links and extended attributes,
/// and overlayfs' marks for removed files.
///
/// Of overlayfs' own attributes only the one that hides a directory below is meaningful elsewhere; the others refer to
/// files of their file system.
public final class ChangedFiles {
    private static final Duration LIMIT = Duration.ofMinutes(25);
    private static final String OVERLAY = "trusted.overlay.";
    private static final String OPAQUE = OVERLAY + "opaque";

    /// Bytes that stay free on the disk of layers.
    private static final long RESERVE = 1L << 30;

    private ChangedFiles() {}

    /// Refuses to make another layer where the disk is nearly full.
    public static void requireSpace(Path rootfs) {
        long free = rootfs.toFile().getUsableSpace();
        if (free < RESERVE) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "this machine has no room for another layer: %d MB are left where layers lie; let the operator make room"
                            .formatted(free >> 20));
        }
    }

    public static void copy(Programs programs, Path upper, Path layer) throws IOException {
        programs.require(
                LIMIT,
                "cp",
                "-dR",
                "--preserve=mode,ownership,timestamps,links,xattr",
                "--sparse=auto",
                "-T",
                "--",
                upper.toString(),
                layer.toString());
        Files.walkFileTree(layer, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                clean(directory);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    clean(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void clean(Path path) throws IOException {
        int flags = FileCalls.PATH | FileCalls.NOFOLLOW | FileCalls.CLOEXEC;
        try (Descriptor file = FileCalls.open(path.toString(), flags, 0)) {
            for (String name : Attributes.names(file)) {
                if (name.startsWith(OVERLAY) && !name.equals(OPAQUE)) {
                    Attributes.remove(file, name);
                }
            }
        }
    }
}
