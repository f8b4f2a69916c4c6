package dev.cay.node.storage;

import dev.cay.node.linux.BtrfsQuotas;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.runtime.Command;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Subvolumes with quota groups, one run of `cay-guest` per change; reading needs no other program.
final class BtrfsDisks implements Disks {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final String guest;
    private final Map<Path, Long> numbers = new ConcurrentHashMap<>();

    BtrfsDisks(GuestProgram guest) {
        this.guest = guest.path().toString();
    }

    @Override
    public boolean limited() {
        return true;
    }

    @Override
    public void create(Path disk, long limit) {
        String bytes = Long.toString(limit);
        new Command("making the sandbox's disk", LIMIT, guest, "disk", "create", disk.toString(), bytes).run();
    }

    @Override
    public void createEmpty(Path disk, long limit) {
        String bytes = Long.toString(limit);
        new Command("making a disk", LIMIT, guest, "disk", "empty", disk.toString(), bytes).run();
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        String bytes = Long.toString(limit);
        new Command("copying the sandbox's disk", LIMIT, guest, "disk", "copy", from.toString(), to.toString(), bytes)
                .run();
    }

    @Override
    public void delete(Path disk) {
        numbers.remove(disk);
        new Command("deleting the sandbox's disk", LIMIT, guest, "disk", "delete", disk.toString()).run();
        numbers.remove(disk);
    }

    @Override
    public void limit(Path disk, long bytes) {
        try {
            long number = BtrfsQuotas.subvolume(disk.toString());
            BtrfsQuotas.limit(Objects.requireNonNull(disk.getParent()).toString(), number, bytes);
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot limit the sandbox's disk", e);
        }
    }

    @Override
    public long used(Path disk) {
        try {
            long number = BtrfsQuotas.subvolume(disk.toString());
            return BtrfsQuotas.referenced(disk.toString()).getOrDefault(number, 0L);
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandbox's disk use", e);
        }
    }

    @Override
    public Map<Path, Long> used(Collection<Path> disks) {
        var used = new HashMap<Path, Long>();
        if (disks.isEmpty()) {
            return used;
        }
        try {
            var bytes = BtrfsQuotas.referenced(
                    Objects.requireNonNull(disks.iterator().next().getParent()).toString());
            disks.forEach(disk -> number(disk).map(bytes::get).ifPresent(value -> used.put(disk, value)));
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandboxes' disk use", e);
        }
        return used;
    }

    @Override
    public Map<Path, Long> usedBelow(Path directory) {
        Map<Path, Long> used;
        try (var disks = Files.list(directory)) {
            used = used(disks.toList());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandboxes' disk use", e);
        }
        numbers.keySet().removeIf(disk -> directory.equals(disk.getParent()) && !used.containsKey(disk));
        return used;
    }

    /// A disk keeps its number, so it is asked for once.
    private Optional<Long> number(Path disk) {
        Long known = numbers.get(disk);
        if (known != null) {
            return Optional.of(known);
        }
        try {
            long number = BtrfsQuotas.subvolume(disk.toString());
            numbers.put(disk, number);
            return Optional.of(number);
        } catch (ErrnoException e) {
            // The disk was just deleted, or is being made.
            return Optional.empty();
        }
    }
}
