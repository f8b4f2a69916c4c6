package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// `cay-guest` as a file on this host, with the script that starts CRIU.
///
/// Its path contains a hash of its content, and it is never changed: a checkpoint names its mapped files by path and
/// refuses changed ones, so an upgrade must keep the old program for the sandboxes that were saved with it.
public final class GuestProgram {
    private static final String PROGRAM = "cay-guest";
    private static final String SHIM = "criu-shim.so";
    private static final String CRIU = "criu";

    /// The files of a version. What else lies beside them is about this machine alone.
    public static final List<String> FILES = List.of(PROGRAM, SHIM, CRIU);

    /// Permissions of programs that only root runs.
    private static final String OURS_ALONE = "rwx------";

    private static final Set<PosixFilePermission> PASSABLE = PosixFilePermissions.fromString("rwx--x--x");
    private static final Pattern OURS = Pattern.compile("[0-9a-f]{24}|new-.*");

    private final Path directory;

    private GuestProgram(Path directory) {
        this.directory = directory;
    }

    /// Unpacks the built program, once. Every user must be able to pass through `parent` and its parents.
    public static GuestProgram install(Path parent) {
        try {
            return install(parent, packed(PROGRAM), packed(SHIM));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot unpack cay-guest to " + parent, e);
        }
    }

    /// Unpacks another version, with which sandboxes were saved.
    public static GuestProgram install(Path parent, byte[] program, byte[] shim) {
        try {
            Path directory = parent.resolve(contentKey(program, shim));
            if (!Files.exists(directory)) {
                unpack(parent, directory, program, shim);
            }
            return new GuestProgram(directory);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot unpack cay-guest to " + parent, e);
        }
    }

    /// Deletes unused versions, and incomplete ones of a killed start.
    ///
    /// @param used names of directories that some sandbox was made with
    public void removeOthers(Set<String> used) {
        Path parent = directory.toAbsolutePath().getParent();
        if (parent == null) {
            return;
        }
        try (var versions = Files.list(parent)) {
            for (Path version : versions.toList()) {
                String name = version.getFileName().toString();
                if (!version.equals(directory.toAbsolutePath())
                        && !used.contains(name)
                        && OURS.matcher(name).matches()) {
                    delete(version);
                }
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot tidy up " + parent, e);
        }
    }

    private static void delete(Path version) throws IOException {
        try (var files = Files.list(version)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(version);
    }

    /// The permanent name of this version.
    public String key() {
        return directory.getFileName().toString();
    }

    /// Another version that was unpacked here.
    GuestProgram other(String key) {
        return new GuestProgram(directory.resolveSibling(key));
    }

    public Path path() {
        return directory.resolve(PROGRAM);
    }

    /// Starts CRIU with the shim that old versions need on new kernels; on others it does nothing.
    Path criu() {
        return directory.resolve(CRIU);
    }

    private static void unpack(Path parent, Path directory, byte[] program, byte[] shim) throws IOException {
        Files.createDirectories(parent);
        Files.setPosixFilePermissions(parent, PASSABLE);
        Path fresh = Files.createTempDirectory(parent, "new-");
        write(fresh.resolve(PROGRAM), program, "rwxr-xr-x");
        write(fresh.resolve(SHIM), shim, OURS_ALONE);
        String script = "#!/bin/sh\nLD_PRELOAD=%s exec criu \"$@\"\n".formatted(directory.resolve(SHIM));
        write(fresh.resolve(CRIU), script.getBytes(StandardCharsets.UTF_8), OURS_ALONE);
        Files.setPosixFilePermissions(fresh, PASSABLE);
        Files.move(fresh, directory, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void write(Path file, byte[] content, String permissions) throws IOException {
        Files.write(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    private static byte[] packed(String name) throws IOException {
        try (var stream = GuestProgram.class.getResourceAsStream("/dev/cay/guest/" + name)) {
            if (stream == null) {
                throw new FileNotFoundException(name + " is not in this build");
            }
            return stream.readAllBytes();
        }
    }

    private static String contentKey(byte[] program, byte[] shim) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(program);
            digest.update(shim);
            return HexFormat.of().formatHex(digest.digest(), 0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
