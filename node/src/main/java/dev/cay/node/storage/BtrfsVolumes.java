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
final class BtrfsVolumes implements Volumes {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final String guest;
    private final Map<Path, Long> numbers = new ConcurrentHashMap<>();

    BtrfsVolumes(GuestProgram guest) {
        this.guest = guest.path().toString();
    }

    @Override
    public boolean limited() {
        return true;
    }

    @Override
    public void create(Path volume, long limit) {
        String bytes = Long.toString(limit);
        new Command("making the sandbox's disk", LIMIT, guest, "volume", "create", volume.toString(), bytes).run();
    }

    @Override
    public void createEmpty(Path volume, long limit) {
        String bytes = Long.toString(limit);
        new Command("making a disk", LIMIT, guest, "volume", "empty", volume.toString(), bytes).run();
    }

    @Override
    public void copy(Path from, Path to, long limit) {
        String bytes = Long.toString(limit);
        new Command("copying the sandbox's disk", LIMIT, guest, "volume", "copy", from.toString(), to.toString(), bytes)
                .run();
    }

    @Override
    public void delete(Path volume) {
        numbers.remove(volume);
        new Command("deleting the sandbox's disk", LIMIT, guest, "volume", "delete", volume.toString()).run();
        numbers.remove(volume);
    }

    @Override
    public void limit(Path volume, long bytes) {
        try {
            long number = BtrfsQuotas.subvolume(volume.toString());
            BtrfsQuotas.limit(Objects.requireNonNull(volume.getParent()).toString(), number, bytes);
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot limit the sandbox's disk", e);
        }
    }

    @Override
    public long used(Path volume) {
        try {
            long number = BtrfsQuotas.subvolume(volume.toString());
            return BtrfsQuotas.referenced(volume.toString()).getOrDefault(number, 0L);
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandbox's disk use", e);
        }
    }

    @Override
    public Map<Path, Long> used(Collection<Path> volumes) {
        var used = new HashMap<Path, Long>();
        if (volumes.isEmpty()) {
            return used;
        }
        try {
            var bytes = BtrfsQuotas.referenced(
                    Objects.requireNonNull(volumes.iterator().next().getParent())
                            .toString());
            volumes.forEach(volume -> number(volume).map(bytes::get).ifPresent(value -> used.put(volume, value)));
        } catch (ErrnoException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandboxes' disk use", e);
        }
        return used;
    }

    @Override
    public Map<Path, Long> usedBelow(Path directory) {
        Map<Path, Long> used;
        try (var volumes = Files.list(directory)) {
            used = used(volumes.toList());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the sandboxes' disk use", e);
        }
        numbers.keySet().removeIf(volume -> directory.equals(volume.getParent()) && !used.containsKey(volume));
        return used;
    }

    /// A volume keeps its number, so it is asked for once.
    private Optional<Long> number(Path volume) {
        Long known = numbers.get(volume);
        if (known != null) {
            return Optional.of(known);
        }
        try {
            long number = BtrfsQuotas.subvolume(volume.toString());
            numbers.put(volume, number);
            return Optional.of(number);
        } catch (ErrnoException e) {
            // It was deleted just now, or is being made.
            return Optional.empty();
        }
    }
}
