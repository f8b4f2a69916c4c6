package dev.cay.node.image.oci;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.cay.life.Trees;
import dev.cay.node.image.Unused;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A directory for bytes of an image until they are unpacked. It is removed at the end.
///
/// A lock on a file in it says that its pull is running. The kernel releases the lock when the process ends, so a later
/// pull finds the directories of a killed daemon and removes them.
final class Staging implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Staging.class);
    private static final String LOCK = "lock";
    private static final String ALL = "staging.lock";

    /// Longer than the removal of a directory takes.
    private static final Duration REMOVAL = Duration.ofHours(4);

    /// The directories of this process. Their lock files are not opened again, because closing one would release the
    /// lock.
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final FileChannel lock;

    private Staging(Path directory, FileChannel lock) {
        this.directory = directory;
        this.lock = lock;
    }

    /// Opens a directory, one at a time, also among processes: a directory that is not locked yet would be taken for an
    /// abandoned one.
    static synchronized Staging open(Path parent) throws IOException {
        Files.createDirectories(parent);
        try (var all = FileChannel.open(parent.resolveSibling(ALL), CREATE, WRITE);
                var _ = all.lock()) {
            for (var each : abandoned(parent)) {
                Trees.delete(each);
            }
            var directory = Files.createTempDirectory(parent, "pull-");
            var lock = FileChannel.open(directory.resolve(LOCK), CREATE, WRITE);
            lock.lock();
            OWN.add(directory);
            return new Staging(directory, lock);
        }
    }

    private static List<Path> abandoned(Path parent) throws IOException {
        var abandoned = new ArrayList<Path>();
        try (var all = Files.newDirectoryStream(parent)) {
            for (var each : all) {
                if (!isUnderWay(each)) {
                    abandoned.add(each);
                }
            }
        }
        return abandoned;
    }

    /// Directories that a killed daemon left.
    static synchronized List<Unused> unused(Path parent) throws IOException {
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        try (var all = FileChannel.open(parent.resolveSibling(ALL), CREATE, WRITE);
                var _ = all.lock()) {
            return abandoned(parent).stream()
                    .map(each ->
                            new Unused("unfinished image", each.getFileName().toString(), 0, () -> remove(each)))
                    .toList();
        }
    }

    private static boolean isUnderWay(Path staging) throws IOException {
        if (OWN.contains(staging)) {
            return true;
        }
        try (var lock = FileChannel.open(staging.resolve(LOCK), WRITE);
                var mine = lock.tryLock()) {
            return mine == null;
        } catch (NoSuchFileException e) {
            // Its pull is removing it now, or was killed while it did.
            return !Files.exists(staging)
                    || Files.getLastModifiedTime(staging)
                            .toInstant()
                            .isAfter(Instant.now().minus(REMOVAL));
        }
    }

    Path directory() {
        return directory;
    }

    @Override
    public void close() {
        remove(directory);
        OWN.remove(directory);
        try {
            lock.close();
        } catch (IOException e) {
            log.atWarn().setCause(e).log("cannot close the lock of an image pull");
        }
    }

    private static void remove(Path directory) {
        try {
            Trees.delete(directory);
        } catch (IOException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("directory", directory)
                    .log("cannot delete the staging directory of an image");
        }
    }
}
