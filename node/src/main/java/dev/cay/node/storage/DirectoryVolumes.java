package dev.cay.node.storage;

import dev.cay.node.runtime.Command;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Plain directories, for hosts without btrfs. No limit, and a copy copies.
///
/// Trees are handled by the host's tools: a sandbox can nest directories deeper than a path is long.
final class DirectoryVolumes implements Volumes {
    private static final Logger log = LoggerFactory.getLogger(DirectoryVolumes.class);
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration AGAIN = Duration.ofMinutes(1);

    private Map<Path, Long> known = Map.of();
    private boolean walking;
    private long walked;

    @Override
    public boolean limited() {
        return false;
    }

    @Override
    public void create(Path volume, long limit) {
        try {
            for (Path directory : List.of(volume, volume.resolve("upper"), volume.resolve("work"))) {
                Files.createDirectory(directory);
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make the sandbox's disk", e);
        }
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        new Command("copying the sandbox's disk", LIMIT, "cp", "-a", "--reflink=auto", from.toString(), to.toString())
                .run();
    }

    @Override
    public void delete(Path volume) {
        new Command("deleting the sandbox's disk", LIMIT, "rm", "-rf", "--one-file-system", volume.toString()).run();
    }

    @Override
    public long used(Path volume) {
        String answer =
                new Command("reading the sandbox's disk use", LIMIT, "du", "-s", "-x", "-B1", volume.toString()).run();
        return Long.parseLong(answer.split("\\s")[0]);
    }

    /// Walking all trees takes its time, so it is done in the background, once a minute while somebody asks.
    @Override
    public synchronized Map<Path, Long> usedBelow(Path directory) {
        long now = System.nanoTime();
        if (!walking && (walked == 0 || now - walked > AGAIN.toNanos())) {
            walking = true;
            walked = now;
            Thread.ofVirtual().name("disk-use").start(() -> walk(directory));
        }
        return known;
    }

    private void walk(Path directory) {
        Map<Path, Long> found = Map.of();
        try {
            String answer = new Command(
                            "reading the sandboxes' disk use",
                            LIMIT,
                            "du",
                            "-x",
                            "-B1",
                            "--max-depth=1",
                            directory.toString())
                    .run();
            found = answer.lines()
                    .map(line -> line.split("\t", 2))
                    .filter(words -> words.length == 2 && !words[1].equals(directory.toString()))
                    .collect(Collectors.toMap(words -> Path.of(words[1]), words -> Long.valueOf(words[0])));
        } catch (RuntimeException e) {
            // A sandbox that ended meanwhile makes du complain; the next walk is a minute away.
            log.atDebug().setCause(e).log("disk use could not be read");
        }
        synchronized (this) {
            walking = false;
            if (!found.isEmpty()) {
                known = found;
            }
        }
    }
}
