package dev.cay.life;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/// Writes files so that no reader ever sees half of one, also after the writer was killed. They are no safer from a
/// loss of power than other files, until they are forced to disk. Only their owner may read them, unless the caller
/// chooses other permissions.
public final class WholeFile {
    private WholeFile() {}

    public static void write(Path file, byte[] content) throws IOException {
        write(file, content, RootOnly.FILE);
    }

    /// Writes with these permissions from the start.
    public static void write(Path file, byte[] content, Set<PosixFilePermission> mode) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        draft(fresh, content, mode);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    }

    public static void write(Path file, String content) throws IOException {
        write(file, content.getBytes(StandardCharsets.UTF_8));
    }

    /// Writes so that the file survives a loss of power once this returns.
    public static void writeDurably(Path file, byte[] content) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        draft(fresh, content);
        Steps.reach("file-drafted");
        force(fresh, StandardOpenOption.WRITE);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        Steps.reach("file-moved");
        force(Objects.requireNonNull(file.toAbsolutePath().getParent()), StandardOpenOption.READ);
        Steps.reach("file-durable");
    }

    private static void force(Path path, StandardOpenOption how) throws IOException {
        try (var channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }

    /// The first half of it, for a writer that has something to do before the file takes its place.
    public static void draft(Path fresh, byte[] content) throws IOException {
        draft(fresh, content, RootOnly.FILE);
    }

    /// Writes a new draft. A draft that a killed writer left may have open permissions, and is not reused.
    private static void draft(Path fresh, byte[] content, Set<PosixFilePermission> mode) throws IOException {
        try {
            Files.createFile(fresh, PosixFilePermissions.asFileAttribute(mode));
        } catch (FileAlreadyExistsException _) {
            Files.delete(fresh);
            Files.createFile(fresh, PosixFilePermissions.asFileAttribute(mode));
        }
        if (!RootOnly.FILE.equals(mode)) {
            Files.setPosixFilePermissions(fresh, mode);
        }
        // Not by a channel: a write of this kind is completed on an interrupted thread too.
        Files.write(fresh, content);
    }
}
