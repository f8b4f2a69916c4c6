package dev.cay.life;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// Files that nobody ever sees half written, also not who comes after a writer that was killed. They are as safe as
/// any other from a loss of power, which is: not, until somebody forces them to disk.
public final class WholeFile {
    private WholeFile() {}

    public static void write(Path file, byte[] content) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.write(fresh, content);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /// With these permissions from the first moment.
    public static void write(Path file, byte[] content, Set<PosixFilePermission> mode) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(mode));
        Files.setPosixFilePermissions(fresh, mode);
        write(file, content);
    }

    public static void write(Path file, String content) throws IOException {
        write(file, content.getBytes(StandardCharsets.UTF_8));
    }
}
