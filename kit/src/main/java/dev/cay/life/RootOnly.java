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

/// Makes files and directories that only their owner can read, whatever the umask is. The owner is root, as whom the
/// daemon runs. The umask itself stays: programs that the daemon starts inherit it, and their files are often meant for
/// others.
public final class RootOnly {
    static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private RootOnly() {}

    /// Makes the directory unless it exists. Its parents get the usual permissions.
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

    /// Removes all permissions of group and others. Does not look into a directory.
    ///
    /// @return whether group or others had any
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

    /// The same for a directory and its content. The directory itself comes last: if it is closed already, its content
    /// was closed before and is skipped.
    public static void closeTree(Path directory) throws IOException {
        var permissions = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
        if (!OWNERS.containsAll(permissions)) {
            Files.walkFileTree(directory, new EachEntry(RootOnly::close));
        }
    }
}
