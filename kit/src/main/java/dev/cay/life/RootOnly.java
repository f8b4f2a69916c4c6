package dev.cay.life;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/// Files and directories that nobody but their owner may read, whatever the umask is. The owner is root, as whom the
/// daemon runs. The umask itself stays as it is: programs that the daemon starts inherit it, and what these make is
/// often meant for others.
public final class RootOnly {
    static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private RootOnly() {}

    /// Makes the directory unless it is there. What is above it is made as usual.
    public static Path directory(Path directory) throws IOException {
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(DIRECTORY));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory)) {
                throw e;
            }
            close(directory);
        }
        return directory;
    }

    /// Makes an empty file unless there is one, for a program that opens it by its name.
    public static Path file(Path file) throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
        } catch (FileAlreadyExistsException _) {
            close(file);
        }
        return file;
    }

    /// Takes all permissions from everybody else. Says nothing of what a directory holds.
    ///
    /// @return whether anybody else had some
    public static boolean close(Path path) throws IOException {
        var view = Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
        var attributes = view.readAttributes();
        if (attributes.isSymbolicLink() || OWNERS.containsAll(attributes.permissions())) {
            return false;
        }
        var kept = EnumSet.copyOf(OWNERS);
        kept.retainAll(attributes.permissions());
        view.setPermissions(kept);
        return true;
    }

    /// The same for a directory and all in it. The directory itself comes last: one that is closed already holds
    /// nothing that would have to be looked at, and nothing is.
    public static void closeTree(Path directory) throws IOException {
        var permissions = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
        if (!OWNERS.containsAll(permissions)) {
            Files.walkFileTree(directory, new EachEntry(RootOnly::close));
        }
    }
}
