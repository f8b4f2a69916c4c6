package dev.cay.node.storage;

import dev.cay.life.Steps;
import dev.cay.life.WholeFile;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Volumes in the pool: a disk for each, with the size beside it. Ids of files are as sandboxes count. Thread-safe for
/// different volumes.
public final class VolumeDisks {
    private static final Logger log = LoggerFactory.getLogger(VolumeDisks.class);
    private static final String SIZE = ".size";

    /// How much each may write while the guard syncs the file system.
    private static final long MEANWHILE = 64L << 20;

    private final Path directory;
    private final Disks disks;
    private final Runnable requireRoom;
    /// How often growth was stopped since the last release.
    private int stops;

    /// @param requireRoom refuses when the pool is nearly full
    VolumeDisks(Path directory, Disks disks, Runnable requireRoom) {
        this.directory = directory;
        this.disks = disks;
        this.requireRoom = requireRoom;
    }

    /// The volume's directory, whether or not it exists.
    public Path place(VolumeId id) {
        return directory.resolve(id.value());
    }

    private Path size(VolumeId id) {
        return directory.resolve(id.value() + SIZE);
    }

    /// Refuses a volume that is not there.
    public Path require(VolumeId id) {
        Path place = place(id);
        if (!Files.isDirectory(place)) {
            throw new CayException(ErrorKind.NOT_FOUND, "volume %s is not on this machine".formatted(id));
        }
        return place;
    }

    /// Makes an empty volume, in which every user of a sandbox can make files. An existing one gets this size.
    public void create(VolumeId id, long bytes) {
        make(id, bytes);
        try {
            Files.setPosixFilePermissions(place(id), PosixFilePermissions.fromString("rwxrwxrwx"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot open volume %s to its users".formatted(id), e);
        }
    }

    /// Makes a volume for a tree that is unpacked there, with the tree's permissions.
    public void make(VolumeId id, long bytes) {
        Path place = place(id);
        try {
            WholeFile.write(size(id), Long.toString(bytes));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot note the size of volume " + id, e);
        }
        if (Files.exists(place)) {
            disks.limit(place, bytes);
        } else {
            requireRoom.run();
            disks.createEmpty(place, bytes);
        }
    }

    /// Unknown ids are fine, and so is one of which an earlier deletion has left something.
    public void delete(VolumeId id) {
        Path place = place(id);
        try {
            if (Files.exists(place)) {
                disks.delete(place);
            }
            Steps.reach("volume-emptied");
            Files.deleteIfExists(size(id));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete volume " + id, e);
        }
    }

    public List<VolumeId> list() {
        try (var entries = Files.list(directory)) {
            return VolumeId.among(entries.map(entry -> entry.getFileName().toString()));
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot list the volumes of the pool", e);
        }
    }

    /// Bytes that each holds, up to half a minute old; without those not known.
    public Map<VolumeId, Long> used() {
        var all = list();
        var bytes = disks.used(all.stream().map(this::place).toList());
        var used = new HashMap<VolumeId, Long>();
        all.forEach(id -> {
            Long held = bytes.get(place(id));
            if (held != null) {
                used.put(id, held);
            }
        });
        return used;
    }

    /// The size of a volume.
    public long bytes(VolumeId id) {
        try {
            return Long.parseLong(Files.readString(size(id)).strip());
        } catch (IOException | NumberFormatException e) {
            throw new CayException(ErrorKind.INTERNAL, "the size of volume %s is not known".formatted(id), e);
        }
    }

    /// Copies a volume to a place in the pool, on btrfs at once whatever its size.
    public void save(VolumeId id, Path to) {
        disks.copy(require(id), to, bytes(id));
    }

    /// Stops the growth of all volumes, because the pool is nearly full. At first each may write a little more, because
    /// its use is known as of the last commit of the file system.
    synchronized void stop() {
        stops++;
        if (stops > 2) {
            return;
        }
        if (stops == 1) {
            log.atWarn().log("the pool is nearly full: volumes cannot grow until some of it is freed");
        }
        long more = stops == 1 ? MEANWHILE : 0;
        used().forEach((id, held) -> limit(id, Math.max(1, Math.min(bytes(id), held + more))));
    }

    /// Gives each the size it has, also after an earlier daemon stopped them.
    synchronized void release(boolean always) {
        if (stops > 0 || always) {
            stops = 0;
            list().forEach(id -> limit(id, bytes(id)));
        }
    }

    private void limit(VolumeId id, long bytes) {
        try {
            disks.limit(place(id), bytes);
        } catch (RuntimeException e) {
            log.atDebug().setCause(e).addKeyValue("volume", id).log("a volume was deleted before its limit was set");
        }
    }
}
