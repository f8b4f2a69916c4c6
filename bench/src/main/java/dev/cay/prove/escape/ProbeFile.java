package dev.cay.prove.escape;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// `cay-probe`, as the build packed it.
public final class ProbeFile {
    public static final String NAME = "cay-probe";

    private ProbeFile() {}

    static byte[] bytes() throws IOException {
        try (var stream = ProbeFile.class.getResourceAsStream("/dev/cay/guest/" + NAME)) {
            if (stream == null) {
                throw new FileNotFoundException(NAME + " is not in this build");
            }
            return stream.readAllBytes();
        }
    }

    public static Path unpack(Path directory) throws IOException {
        Path file = Files.write(directory.resolve(NAME), bytes());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }
}
