package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts in the host's own namespace. Sandboxes' mounts are in namespaces of their own, so whatever is mounted out
/// here
/// in a place of theirs was left by something that died, and would be emptied by whoever deletes the place.
public final class Mounts {
    private static final Logger log = LoggerFactory.getLogger(Mounts.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private Mounts() {}

    /// What is mounted below a directory, innermost first; not what is mounted on it.
    public static List<Path> below(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try {
            String prefix = directory.toRealPath() + "/";
            return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                    .map(line -> line.split(" ")[4].replace("\\040", " "))
                    .filter(place -> place.startsWith(prefix))
                    .sorted(Comparator.reverseOrder())
                    .map(Path::of)
                    .toList();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the host's mounts", e);
        }
    }

    public static void unmountBelow(Path directory) {
        for (Path place : below(directory)) {
            log.atWarn().addKeyValue("place", place).log("unmounting what no sandbox claims");
            Programs.ofHost().require(LIMIT, "umount", "--lazy", place.toString());
        }
    }
}
