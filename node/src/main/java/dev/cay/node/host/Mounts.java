package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts in the host's own namespace. Sandboxes' mounts are in namespaces of their own, so a mount out here in a
/// sandbox's directory was left by a killed process, and deleting the directory would delete the mounted files.
public final class Mounts {
    private static final Logger log = LoggerFactory.getLogger(Mounts.class);
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    private Mounts() {}

    /// The mounts below a directory, innermost first, without one on the directory itself.
    public static List<Path> below(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        return places(directory, (place, real) -> place.startsWith(real + "/")).stream()
                .sorted(Comparator.reverseOrder())
                .map(Path::of)
                .toList();
    }

    public static boolean isMountPoint(Path directory) {
        return !places(directory, String::equals).isEmpty();
    }

    /// @param wanted called with every mount point, and with the directory's real path
    private static List<String> places(Path directory, BiPredicate<String, String> wanted) {
        try {
            String real = directory.toRealPath().toString();
            return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                    .map(line -> plain(line.split(" ")[4]))
                    .filter(place -> wanted.test(place, real))
                    .toList();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the host's mounts", e);
        }
    }

    /// The kernel writes what separates its columns in octal.
    private static String plain(String place) {
        return OCTAL.matcher(place)
                .replaceAll(found -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(found.group(1), 8))));
    }

    public static void unmountBelow(Path directory) {
        for (Path place : below(directory)) {
            log.atWarn().addKeyValue("place", place).log("unmounting a file system of no sandbox");
            Programs.ofHost().require(LIMIT, "umount", "--lazy", place.toString());
        }
    }
}
