package dev.cay.prove.escape;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/// Another user of the host, who knows all names below a state directory and tries to read the files.
public final class HostUser {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String NOBODY = "65534";

    /// Root tells the names, so that directories that cannot be listed hide nothing.
    private static final String READ_ALL = """
            find "$1" ! -type l -print0 2>/dev/null |
                setpriv --reuid="$2" --regid="$2" --clear-groups \\
                    xargs -0 sh -c 'for path; do if [ -r "$path" ]; then printf "%s\\n" "$path"; fi; done; true' sh
            """;

    /// What every user may read: the certificates that clients need, and the program that each sandbox shows.
    private static final Pattern MEANT_FOR_ALL = Pattern.compile("tls/(ca|bundle)\\.pem|guest/[0-9a-f]{24}/cay-guest");

    private HostUser() {}

    /// What such a user can read and should not, relative to the directory.
    public static List<String> reads(Path stateDir) {
        return readable(stateDir).stream()
                .filter(name -> !MEANT_FOR_ALL.matcher(name).matches())
                .toList();
    }

    /// All that such a user can read, relative to the directory.
    public static List<String> readable(Path stateDir) {
        var command = List.of("sh", "-c", READ_ALL, "sh", stateDir.toString(), NOBODY);
        String root = stateDir + "/";
        return Programs.ofHost()
                .require(LIMIT, "", command)
                .lines()
                .map(line -> line.startsWith(root) ? line.substring(root.length()) : line)
                .toList();
    }

    /// Whether the same attempt succeeds where files have the usual permissions.
    static boolean readsUsualFiles(Path place) throws IOException {
        Path stateDir = Files.createDirectory(place.resolve("state"));
        Path sandbox = Files.createDirectories(stateDir.resolve("sandboxes/neighbour"));
        Path notes = Files.writeString(sandbox.resolve("sandbox.json"), "{}");
        for (Path directory : List.of(stateDir, sandbox.getParent(), sandbox)) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        }
        Files.setPosixFilePermissions(notes, PosixFilePermissions.fromString("rw-r--r--"));
        return reads(stateDir).equals(List.of("sandboxes/neighbour/sandbox.json"));
    }
}
