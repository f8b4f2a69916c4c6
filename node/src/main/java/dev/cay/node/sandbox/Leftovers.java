package dev.cay.node.sandbox;

import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds the sandboxes of an earlier daemon, and reserves the slots of those that continue or have to be removed.
///
/// A sandbox has notes, a container and a disk. Only one that has all it needs can continue; all other parts are
/// removed.
final class Leftovers {
    private static final Logger log = LoggerFactory.getLogger(Leftovers.class);

    /// The parts of a sandbox that were found.
    ///
    /// @param slot null when the notes do not say, or when another sandbox has it
    record Found(
            SandboxId id,
            @Nullable SandboxNotes notes,
            @Nullable Slot slot,
            @Nullable Container container) {
        SandboxNotes.Phase phase() {
            return notes == null ? SandboxNotes.Phase.RUNNING : notes.phaseNow();
        }

        /// Whether there is a snapshot that holds it.
        boolean isSaved() {
            return notes != null && notes.isSaved();
        }

        /// Whether it is paused and not saved yet.
        boolean isFrozen() {
            return notes != null && notes.isFrozen();
        }

        private int rank() {
            return notes == null ? 2 : container != null && notes.ready() ? 0 : 1;
        }

        Found with(@Nullable Container other) {
            return new Found(id, notes, slot, other);
        }

        private Found with(Slot claimed) {
            return new Found(id, notes, claimed, container);
        }
    }

    private final HostParts host;

    Leftovers(HostParts host) {
        this.host = host;
    }

    /// All sandboxes by id. Running ones get their slots first, older ones before newer ones.
    Map<SandboxId, Found> look() {
        var ids = new LinkedHashSet<>(SandboxNotes.list(host.records()));
        ids.addAll(host.runtime().list());
        ids.addAll(host.pool().list());
        var all = new LinkedHashMap<SandboxId, Found>();
        ids.stream()
                .map(this::look)
                .sorted(Comparator.comparingInt(Found::rank)
                        .thenComparing(found -> String.valueOf(
                                found.notes() == null ? "" : found.notes().startedAt())))
                .forEach(found -> all.put(found.id(), claim(found)));
        return all;
    }

    private Found look(SandboxId id) {
        var notes = SandboxNotes.read(host.records(), id);
        var container = host.runtime().find(id);
        return new Found(id, notes.orElse(null), null, container.orElse(null));
    }

    private Found claim(Found found) {
        if (found.notes() == null || found.notes().slot() == SandboxNotes.NO_SLOT) {
            return found;
        }
        try {
            return found.with(host.plan().claim(found.notes().slot()));
        } catch (CayException e) {
            log.atError()
                    .addKeyValue("sandbox", found.id())
                    .addKeyValue("reason", e.getMessage())
                    .log("the slot of a sandbox cannot be claimed; the sandbox is removed");
            return found;
        }
    }

    /// Whether it can continue: it had started completely, runs, and has the uid range of its slot.
    static boolean canGoOn(Found found) {
        return found.notes() != null
                && found.notes().ready()
                && found.container() != null
                && found.slot() != null
                && runsAs(found.container(), found.slot());
    }

    private static boolean runsAs(Container container, Slot slot) {
        try {
            String map = Files.readString(Path.of("/proc", Integer.toString(container.pid()), "uid_map"));
            if (map.strip().split("\\s+")[1].equals(Integer.toUnsignedString(slot.uidBase()))) {
                return true;
            }
            log.atError()
                    .addKeyValue("sandbox", container.id())
                    .log("a sandbox runs with user ids outside its slot: was the uid base changed?");
            return false;
        } catch (IOException | ArrayIndexOutOfBoundsException gone) {
            return false;
        }
    }
}
