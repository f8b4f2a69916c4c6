package dev.cay.cli.local;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Whether this process may do what only root may.
public final class Root {
    private Root() {}

    public static boolean here() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid") instanceof Integer uid && uid == 0;
        } catch (IOException _) {
            return false;
        }
    }

    public static void require(String command, String why) {
        require(command, why, "./cay " + command);
    }

    /// @param again what to run as root instead
    public static void require(String command, String why, String again) {
        if (!here()) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "%s needs root %s; run: sudo %s".formatted(command, why, again));
        }
    }
}
