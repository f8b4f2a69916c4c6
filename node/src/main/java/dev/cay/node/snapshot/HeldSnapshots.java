package dev.cay.node.snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots that are deleted while a backup reads: they lose their notes at once, so that they cannot be used any
/// more, and their files when no backup holds them. The next daemon removes the files of a killed one as an unfinished
/// snapshot.
final class HeldSnapshots {
    private static final Logger log = LoggerFactory.getLogger(HeldSnapshots.class);
    static final String GONE = "about.gone";

    private final Consumer<String> remove;
    private final Set<String> kept = new HashSet<>();
    private int holds;

    /// @param remove removes the files of a snapshot
    HeldSnapshots(Consumer<String> remove) {
        this.remove = remove;
    }

    /// @param about the notes of the snapshot
    void delete(String name, Path about) throws IOException {
        if (!keep(name, about)) {
            Files.deleteIfExists(about);
            remove.accept(name);
        }
    }

    private synchronized boolean keep(String name, Path about) throws IOException {
        if (holds == 0 || !Files.exists(about)) {
            return kept.contains(name);
        }
        Files.move(about, about.resolveSibling(GONE), StandardCopyOption.ATOMIC_MOVE);
        kept.add(name);
        return true;
    }

    synchronized boolean isKept(String name) {
        return kept.contains(name);
    }

    synchronized void begin() {
        holds++;
    }

    void end() {
        for (String name : release()) {
            try {
                remove.accept(name);
            } catch (RuntimeException e) {
                log.atWarn().setCause(e).addKeyValue("snapshot", name).log("a snapshot is removed later");
            }
        }
    }

    private synchronized Set<String> release() {
        holds--;
        if (holds > 0) {
            return Set.of();
        }
        var all = Set.copyOf(kept);
        kept.clear();
        return all;
    }
}
