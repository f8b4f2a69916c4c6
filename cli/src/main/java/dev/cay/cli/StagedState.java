package dev.cay.cli;

import dev.cay.life.RootOnly;
import dev.cay.life.WholeFile;
import dev.cay.node.host.Programs;
import dev.cay.node.storage.PoolDevice;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The draft of a state directory that a restore makes, inside the final one: `restore/`.
///
/// Until the draft is complete, the state directory is unchanged. Then a marker file is written, and everything is
/// renamed to its place, one after the other; a command that finds the marker continues the renames. So an interrupted
/// restore has changed nothing, or is completed by the next command.
final class StagedState {
    static final String STAGING = "restore";
    static final String SETTINGS = "cay.yaml.restored";
    static final String REPLACED = "replaced-";
    private static final String COMPLETE = "complete";
    private static final Duration DELETE_LIMIT = Duration.ofMinutes(10);

    /// Files that a state directory may contain and still count as empty. Guests are named by their content.
    private static final Set<String> HARMLESS = Set.of(STAGING, InstanceLock.NAME, "guest", "logs", "backup", SETTINGS);

    private final Path stateDir;

    StagedState(Path stateDir) {
        this.stateDir = stateDir;
    }

    Path directory() {
        return stateDir.resolve(STAGING);
    }

    private Path mark() {
        return directory().resolve(COMPLETE);
    }

    /// Takes a half made pool off the host.
    static void takeOff(Path stateDir) {
        new PoolDevice(stateDir.resolve(STAGING)).takeOff();
    }

    /// Called by a daemon that starts: completes a restore that was interrupted while it moved files, and refuses
    /// to start on one that was interrupted before.
    ///
    /// @param command the restore command, for the message
    void requireSettled(PrintStream out, String command) throws IOException {
        if (settle()) {
            out.println("completed a restore that was interrupted");
        } else if (isEmptyDirectory(directory())) {
            // The last step of a restore, or the first.
            Files.delete(directory());
        } else if (Files.exists(directory(), LinkOption.NOFOLLOW_LINKS)) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "a restore into %s was interrupted; run `sudo %s` again, or start without it after: sudo sh -c 'umount %s/pool; rm -rf --one-file-system %s'"
                            .formatted(stateDir, command, directory(), directory()));
        }
    }

    /// Completes a restore that has all of its files.
    ///
    /// @return whether there was one
    boolean settle() throws IOException {
        if (!Files.exists(mark())) {
            return false;
        }
        var lines = Files.readAllLines(mark());
        Path aside = stateDir.resolve(lines.getFirst());
        for (String name : lines.subList(1, lines.size())) {
            RootOnly.directory(aside);
            if (!Files.exists(aside.resolve(name), LinkOption.NOFOLLOW_LINKS)) {
                Files.move(stateDir.resolve(name), aside.resolve(name), StandardCopyOption.ATOMIC_MOVE);
            }
        }
        for (Path entry : entries(directory())) {
            if (!entry.equals(mark())) {
                Files.move(entry, stateDir.resolve(entry.getFileName()), StandardCopyOption.ATOMIC_MOVE);
            }
        }
        force(stateDir);
        Files.delete(mark());
        Files.delete(directory());
        force(stateDir);
        return true;
    }

    /// The files that prevent a restore.
    List<String> inTheWay() throws IOException {
        var names = new ArrayList<String>();
        for (Path entry : entries(stateDir)) {
            String name = entry.getFileName().toString();
            boolean harmless = HARMLESS.contains(name) || name.startsWith(REPLACED) || isEmptyDirectory(entry);
            if (!harmless) {
                names.add(name);
            }
        }
        return names;
    }

    private static boolean isEmptyDirectory(Path entry) throws IOException {
        return Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)
                && entries(entry).isEmpty();
    }

    /// Whether all of it was there and it began to move.
    boolean isComplete() {
        return Files.exists(mark());
    }

    /// Starts with an empty directory.
    Path begin() throws IOException {
        discard();
        return RootOnly.directory(directory());
    }

    /// Deletes the draft with an external program, because files of sandboxes may be deeper than a path is long.
    void discard() {
        if (Files.exists(directory(), LinkOption.NOFOLLOW_LINKS)) {
            takeOff(stateDir);
            Programs.ofHost()
                    .require(
                            DELETE_LIMIT,
                            "rm",
                            "-rf",
                            "--one-file-system",
                            "--",
                            directory().toString());
        }
    }

    /// Moves everything to its place. From here on there is no way back.
    ///
    /// @param old files that are put aside
    /// @return the directory to which they were moved
    Path complete(List<String> old) throws IOException {
        for (Path entry : entries(directory())) {
            Path place = stateDir.resolve(entry.getFileName());
            if (isEmptyDirectory(place)) {
                Files.delete(place);
            }
        }
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString().replace(":", "");
        var lines = new ArrayList<>(List.of(REPLACED + now));
        lines.addAll(old);
        Programs.ofHost().require(DELETE_LIMIT, "sync", "-f", stateDir.toString());
        WholeFile.write(mark(), String.join("\n", lines) + "\n");
        force(mark());
        force(directory());
        settle();
        return stateDir.resolve(REPLACED + now);
    }

    private static List<Path> entries(Path directory) throws IOException {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (var list = Files.list(directory)) {
            return list.sorted().toList();
        }
    }

    private static void force(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
