package dev.cay.testing;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// `cay-probe`, the program with which tests and proofs attack from inside a sandbox. The build packs it into this
/// module, so a daemon that users run does not have it.
public final class ProbeFile {
    public static final String NAME = "cay-probe";

    private ProbeFile() {}

    public static byte[] bytes() throws IOException {
        try (var stream = ProbeFile.class.getResourceAsStream("/dev/cay/testing/" + NAME)) {
            if (stream == null) {
                throw new FileNotFoundException(NAME + " is not in this build");
            }
            return stream.readAllBytes();
        }
    }

    /// @return the program in this directory, executable for every user
    public static Path unpack(Path directory) throws IOException {
        Path file = Files.write(directory.resolve(NAME), bytes());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }
}
