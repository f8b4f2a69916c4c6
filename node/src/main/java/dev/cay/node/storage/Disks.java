package dev.cay.node.storage;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/// Makes and removes the directories of writable layers.
interface Disks {
    boolean limited();

    /// Makes `disk` with `upper/` and `work/` in it.
    void create(Path disk, long limit);

    /// Makes `disk` with nothing in it.
    void createEmpty(Path disk, long limit);

    void copy(Path from, Path to, long limit);

    void delete(Path disk);

    /// Changes how much the disk may hold. If it holds more already, it cannot grow.
    void limit(Path disk, long bytes);

    /// Bytes the disk holds, up to some seconds old.
    long used(Path disk);

    /// The sizes of several disks at once; unknown ones are left out. Empty where disks have no limits.
    Map<Path, Long> used(Collection<Path> disks);

    /// The sizes of all disks in this directory, cheap enough for every few seconds; unknown ones are left out.
    Map<Path, Long> usedBelow(Path directory);
}
