package dev.cay.node.runtime;

import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/// A sandbox's OCI bundle for runc: a directory with `config.json`, the mount point of its root and its files.
final class Bundle {
    private static final String MOUNTS = "mounts";

    /// Begins annotations that say which directory is shown at a place.
    static final String SHOWN = "dev.cay.shown:";

    private static final Pattern GUEST_KEY = Pattern.compile("/([0-9a-f]{24})/cay-guest\"");

    private static final Pattern CGROUP = Pattern.compile("\"cgroupsPath\":\"([^\"]+)\"");

    /// Files that were deleted while open are part of a checkpoint, up to this size each.
    private static final String CRIU_OPTIONS = "ghost-limit 1G\n";

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private final Path directory;

    Bundle(Path directory) {
        this.directory = directory;
    }

    Path directory() {
        return directory;
    }

    Path root() {
        return directory.resolve("rootfs");
    }

    Path log() {
        return directory.resolve("runc.log");
    }

    /// The file with the error output of `cay-guest launch`.
    Path complaint() {
        return directory.resolve("launch.err");
    }

    private Path config() {
        return directory.resolve("config.json");
    }

    Path criuOptions() {
        return directory.resolve("criu.conf");
    }

    Path criuWork() {
        return directory.resolve("criu");
    }

    /// The file whose existence tells CRIU to give its dump up.
    Path giveUp() {
        return directory.resolve("give-up");
    }

    /// @param giveUp whether dumps of the container are given up from now on
    void tellDumps(boolean giveUp) {
        try {
            if (giveUp) {
                Files.writeString(giveUp(), "");
            } else {
                Files.deleteIfExists(giveUp());
            }
        } catch (NoSuchFileException e) {
            // There is no container any more.
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot write " + giveUp(), e);
        }
    }

    /// What the filler reports of itself; there while and after the container's memory is brought in.
    Path fillReport() {
        return directory.resolve("fill");
    }

    /// The file in which the filler lists pages that programs waited for.
    Path touched() {
        return directory.resolve("touched");
    }

    /// Paths at which directories for the container are mounted with its ids, in the mount namespace of its launch
    /// alone.
    Map<Path, ContainerSpec.Mount> mounts(ContainerSpec spec) {
        var mounts = new LinkedHashMap<Path, ContainerSpec.Mount>();
        for (var mount : spec.mounts()) {
            mounts.put(directory.resolve(MOUNTS).resolve(Integer.toString(mounts.size())), mount);
        }
        return mounts;
    }

    /// Makes a directory through which every user can pass, and which only root can list.
    static void makePassable(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    }

    ProcFiles procFiles() {
        return new ProcFiles(directory.resolve("proc"));
    }

    /// Name of the host's end of the link, stored so that the link can be removed without other records.
    Path linkName() {
        return directory.resolve("link");
    }

    /// Which version of the guest the container in it runs.
    String guest() throws IOException {
        Matcher named = GUEST_KEY.matcher(Files.readString(config()));
        if (!named.find()) {
            throw new IOException("no guest in " + config());
        }
        return named.group(1);
    }

    /// The cgroup of the container in it; nothing where none was described yet.
    Optional<String> cgroup() {
        try {
            return CGROUP.matcher(Files.readString(config()))
                    .results()
                    .map(found -> found.group(1))
                    .findFirst();
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot read %s: %s".formatted(config(), e.getMessage()), e);
        }
    }

    /// Where the container in it shows directories beside its own files, with the last two names of the path of each
    /// directory; empty where an older Cay has not noted them.
    Map<String, String> mountedAt() {
        try {
            var places = new LinkedHashMap<String, String>();
            String ours = directory.resolve(MOUNTS) + "/";
            byte[] text = Files.readAllBytes(config());
            // Most have none, and a pause must not wait until tens of kilobytes are parsed.
            if (!new String(text, StandardCharsets.UTF_8).contains("/" + MOUNTS + "/")) {
                return places;
            }
            var config = JSON.readTree(text);
            for (var mount : config.path("mounts")) {
                if (mount.path("source").asString("").startsWith(ours)) {
                    String place = mount.path("destination").asString();
                    places.put(
                            place,
                            config.path("annotations").path(SHOWN + place).asString(""));
                }
            }
            return places;
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot read %s: %s".formatted(config(), e.getMessage()), e);
        }
    }

    /// @param config what runc is told; made by ContainerConfig
    void write(ContainerSpec spec, Map<String, Object> config) throws IOException {
        Files.createDirectories(root());
        Files.createDirectories(criuWork());
        if (!spec.mounts().isEmpty()) {
            makePassable(directory.resolve(MOUNTS));
        }
        // The sandbox's root is an ordinary user of the host, and must be able to reach its root directory.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        WholeFile.write(linkName(), spec.slot().veth());
        procFiles().write(spec.resources());
        Files.writeString(criuOptions(), CRIU_OPTIONS);
        // Written last, and atomically: a reader that finds it takes the rest for complete.
        WholeFile.write(config(), JSON.writeValueAsBytes(config));
    }
}
