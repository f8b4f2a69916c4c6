package dev.cay.node.snapshot;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots that are deleted while a backup reads them, or while sandboxes are filled from them: they lose their
/// notes at once, so that they cannot be used any more, and their files when nobody needs these. The next daemon
/// removes the files of a killed one as an unfinished snapshot, unless a sandbox is still filled from them.
final class HeldSnapshots {
    private static final Logger log = LoggerFactory.getLogger(HeldSnapshots.class);
    static final String GONE = "about.gone";

    private final Consumer<String> remove;
    private final Set<String> kept = new HashSet<>();
    private final Map<String, Set<SandboxId>> users = new HashMap<>();
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
        if ((holds == 0 && !users.containsKey(name)) || !Files.exists(about)) {
            return kept.contains(name) || users.containsKey(name);
        }
        Files.move(about, about.resolveSibling(GONE), StandardCopyOption.ATOMIC_MOVE);
        kept.add(name);
        return true;
    }

    synchronized boolean isKept(String name) {
        return kept.contains(name) || users.containsKey(name);
    }

    /// Whether a sandbox is filled from it.
    synchronized boolean isUsed(String name) {
        return users.containsKey(name);
    }

    /// The sandbox is filled from this snapshot from now on.
    synchronized void use(String name, SandboxId by) {
        users.computeIfAbsent(name, _ -> new HashSet<>()).add(by);
    }

    void unuse(String name, SandboxId by) {
        if (isLast(name, by)) {
            removeLater(name);
        }
    }

    /// Whether nobody needs the files of a deleted snapshot when this sandbox does not.
    private synchronized boolean isLast(String name, SandboxId by) {
        users.computeIfPresent(name, (_, some) -> {
            some.remove(by);
            return some.isEmpty() ? null : some;
        });
        return holds == 0 && !users.containsKey(name) && kept.remove(name);
    }

    synchronized void begin() {
        holds++;
    }

    void end() {
        release().forEach(this::removeLater);
    }

    /// What cannot be removed now, {@link SnapshotStore#tidy} removes.
    private void removeLater(String name) {
        try {
            remove.accept(name);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("snapshot", name).log("a snapshot is removed later");
        }
    }

    private synchronized Set<String> release() {
        holds--;
        if (holds > 0) {
            return Set.of();
        }
        var all = new HashSet<>(kept);
        all.removeAll(users.keySet());
        kept.removeAll(all);
        return all;
    }
}
