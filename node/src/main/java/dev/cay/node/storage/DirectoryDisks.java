package dev.cay.node.storage;

import dev.cay.node.host.Programs;
import dev.cay.node.runtime.Command;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Plain directories, for hosts without btrfs. No limit, and a copy copies.
///
/// Trees are handled by the host's tools: a sandbox can nest directories deeper than a path is long.
final class DirectoryDisks implements Disks {
    private static final Logger log = LoggerFactory.getLogger(DirectoryDisks.class);
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration AGAIN = Duration.ofMinutes(1);
    private static final Pattern COUNTED = Pattern.compile("^(\\d+)\t(/.*)$", Pattern.MULTILINE);

    private Map<Path, Long> known = Map.of();
    private boolean walking;
    private long walked;

    @Override
    public boolean limited() {
        return false;
    }

    @Override
    public void create(Path disk, long limit) {
        try {
            for (Path directory : List.of(disk, disk.resolve("upper"), disk.resolve("work"))) {
                Files.createDirectory(directory);
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make the sandbox's disk", e);
        }
    }

    @Override
    public void createEmpty(Path disk, long limit) {
        try {
            Files.createDirectory(disk);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make a disk", e);
        }
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        new Command("copying the sandbox's disk", LIMIT, "cp", "-a", "--reflink=auto", from.toString(), to.toString())
                .run();
    }

    @Override
    public void delete(Path disk) {
        new Command("deleting the sandbox's disk", LIMIT, "rm", "-rf", "--one-file-system", disk.toString()).run();
    }

    @Override
    public void limit(Path disk, long bytes) {
        // Directories have no limits.
    }

    @Override
    public long used(Path disk) {
        Path directory = Objects.requireNonNull(disk.getParent());
        boolean first;
        synchronized (this) {
            first = walked == 0 && begin();
        }
        if (first) {
            walk(directory);
        }
        return usedBelow(directory).getOrDefault(disk, 0L);
    }

    @Override
    public Map<Path, Long> used(Collection<Path> disks) {
        return Map.of();
    }

    /// Sizes of directories. Walking all trees is slow, so it is done in the background, once a minute while callers
    /// ask.
    @Override
    public synchronized Map<Path, Long> usedBelow(Path directory) {
        if (begin()) {
            Thread.ofVirtual().name("disk-use").start(() -> walk(directory));
        }
        return known;
    }

    /// @return whether a walk is due and none runs
    private boolean begin() {
        long now = System.nanoTime();
        if (walking || (walked != 0 && now - walked < AGAIN.toNanos())) {
            return false;
        }
        walking = true;
        walked = now;
        return true;
    }

    /// Walks a directory. `du` complains about files that disappear meanwhile; its other numbers are right.
    private void walk(Path directory) {
        var found = new HashMap<Path, Long>();
        try {
            var answer = Programs.ofHost().run(LIMIT, "du", "-x", "-B1", "--max-depth=1", directory.toString());
            for (var match : COUNTED.matcher(answer.output()).results().toList()) {
                found.put(Path.of(match.group(2)), Long.valueOf(match.group(1)));
            }
            found.remove(directory);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("disk use could not be read");
        }
        synchronized (this) {
            walking = false;
            if (!found.isEmpty()) {
                known = Map.copyOf(found);
            }
        }
    }
}
