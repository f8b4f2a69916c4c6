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

    /// The same of several disks at once; without those not known. Where disks have no limits, of none.
    Map<Path, Long> used(Collection<Path> disks);

    /// The same of all disks in this directory, made to be asked every few seconds; without those not known yet.
    Map<Path, Long> usedBelow(Path directory);
}
