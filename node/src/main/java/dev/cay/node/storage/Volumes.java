package dev.cay.node.storage;

import java.nio.file.Path;

/// Makes and removes the directories of writable layers.
interface Volumes {
    boolean limited();

    /// Makes `volume` with `upper/` and `work/` in it.
    void create(Path volume, long limit);

    void copy(Path from, Path to, long limit);

    void delete(Path volume);

    long used(Path volume);
}
