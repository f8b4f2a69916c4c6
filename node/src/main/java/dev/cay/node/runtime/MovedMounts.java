package dev.cay.node.runtime;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Refuses to save a sandbox whose volumes were moved: renaming a directory above a mount moves the mount along. CRIU
/// would dump such a sandbox, and could never restore it.
final class MovedMounts {
    private static final Pattern VOLUME = Pattern.compile("/volumes/([0-9a-f-]{36})$");
    private static final Pattern ESCAPED = Pattern.compile("\\\\([0-7]{3})");

    private MovedMounts() {}

    /// Refuses with NOT_SAVED if one of these places has no mount any more, or another one.
    ///
    /// @param places as {@link Bundle#mountedAt} has them
    static void refuse(int pid, Map<String, String> places) {
        if (places.isEmpty()) {
            return;
        }
        Map<String, String> mounted;
        try {
            mounted = mounted(Path.of("/proc", Integer.toString(pid), "mountinfo"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the mounts of the sandbox cannot be read", e);
        }
        places.forEach((place, directory) -> {
            String there = mounted.get(place);
            if (there == null || !there.endsWith(directory)) {
                throw moved(place, directory, mounted, places);
            }
        });
    }

    private static CayException moved(
            String place, String directory, Map<String, String> mounted, Map<String, String> places) {
        String now = mounted.entrySet().stream()
                .filter(mount -> directory.isEmpty()
                        ? VOLUME.matcher(mount.getValue()).find() && !places.containsKey(mount.getKey())
                        : mount.getValue().endsWith(directory))
                .map(Map.Entry::getKey)
                .findFirst()
                .map(" and is at %s now"::formatted)
                .orElse("");
        return new CayException(
                ErrorKind.NOT_SAVED,
                "the memory of the sandbox cannot be saved: the volume at %s was moved by renaming a directory above it%s. Rename the directory back, or keep the files alone with memory false"
                        .formatted(place, now));
    }

    /// The mounts by their place, each with the root of the mount in its file system.
    private static Map<String, String> mounted(Path mountinfo) throws IOException {
        var mounted = new HashMap<String, String>();
        for (String line : Files.readAllLines(mountinfo)) {
            String[] fields = line.split(" ");
            if (fields.length > 5) {
                mounted.put(plain(fields[4]), plain(fields[3]));
            }
        }
        return mounted;
    }

    private static String plain(String field) {
        return ESCAPED.matcher(field)
                .replaceAll(
                        escape -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(escape.group(1), 8))));
    }
}
