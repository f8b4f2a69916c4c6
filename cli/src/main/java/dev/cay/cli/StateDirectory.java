package dev.cay.cli;

import dev.cay.life.RootOnly;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/// Permissions below the state directory. Only root reads there, except:
///
/// - `tls/ca.pem` and `tls/bundle.pem`, the certificates that every client of this host needs;
/// - `guest/KEY/cay-guest`, which each sandbox runs as a user of its own.
///
/// Directories on the way to these may be passed and not listed. Everything is created so; {@link #close} repairs files
/// of earlier versions, which let every user of the host read disks, variables and tokens of sandboxes.
final class StateDirectory {
    static final String PASSABLE = "rwx--x--x";

    private static final Set<PosixFilePermission> PASSING = PosixFilePermissions.fromString(PASSABLE);
    private static final Set<String> CERTIFICATES = Set.of("ca.pem", "bundle.pem");
    private static final Set<String> GUEST = Set.of("cay-guest");

    private final Path directory;
    private final List<Path> others;

    /// @param others directories with rules of their own, which may be inside this one
    StateDirectory(Path directory, List<Path> others) {
        this.directory = directory.toAbsolutePath().normalize();
        this.others =
                others.stream().map(path -> path.toAbsolutePath().normalize()).toList();
    }

    /// Costs next to nothing when all is closed already. Sandboxes' disks are not entered: their files have the
    /// permissions that their users gave them, and the pool's own directory bars the way to all of them.
    void close() {
        try (var entries = Files.list(directory)) {
            for (Path entry : entries.toList()) {
                close(entry);
            }
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "permissions below %s cannot be set: %s; fix that, or set another stateDir"
                            .formatted(directory, e.getMessage()),
                    e);
        }
    }

    private void close(Path entry) throws IOException {
        if (!Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            closeFile(entry);
            return;
        }
        switch (entry.getFileName().toString()) {
            case "tls" -> closeBut(CERTIFICATES, entry);
            case "guest" -> closeGuests(entry);
            case "sandboxes", "records", "logs" -> RootOnly.closeTree(entry);
            default -> {
                if (others.stream().noneMatch(other -> other.startsWith(entry))) {
                    RootOnly.close(entry);
                }
            }
        }
    }

    /// Closes every file but the lock, which is created closed. The daemon would lose the lock here: setting
    /// permissions opens a file, and closing it releases all locks on it.
    private static void closeFile(Path file) throws IOException {
        if (!file.getFileName().toString().equals(InstanceLock.NAME)) {
            RootOnly.close(file);
        }
    }

    private static void closeGuests(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PASSING);
        try (var versions = Files.list(directory)) {
            for (Path version : versions.toList()) {
                if (Files.isDirectory(version, LinkOption.NOFOLLOW_LINKS)) {
                    closeBut(GUEST, version);
                }
            }
        }
    }

    private static void closeBut(Set<String> open, Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PASSING);
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (!open.contains(file.getFileName().toString())) {
                    RootOnly.close(file);
                }
            }
        }
    }
}
