package dev.cay.node.storage;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/// Makes and removes the directories of writable layers.
interface Volumes {
    boolean limited();

    /// Makes `volume` with `upper/` and `work/` in it.
    void create(Path volume, long limit);

    /// Makes `volume` with nothing in it.
    void createEmpty(Path volume, long limit);

    void copy(Path from, Path to, long limit);

    void delete(Path volume);

    /// Changes how much the volume may hold. If it holds more already, it cannot grow.
    void limit(Path volume, long bytes);

    /// Bytes the volume holds, up to some seconds old.
    long used(Path volume);

    /// The same of several volumes at once; without those not known. Where volumes have no limits, of none.
    Map<Path, Long> used(Collection<Path> volumes);

    /// The same of all volumes in this directory, made to be asked every few seconds; without those not known yet.
    Map<Path, Long> usedBelow(Path directory);
}
