package dev.cay.node.sandbox;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Saved;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/// The notes of one sandbox in the form of a paused one, for backups.
///
/// @param snapshot name of the snapshot that holds it
/// @param notes    the JSON by which another daemon adopts it
public record SavedNotes(SandboxId id, String snapshot, byte[] notes) {
    private SavedNotes(SandboxNotes paused) {
        this(paused.spec().id(), paused.snapshot(), Json.write(paused.at(SandboxNotes.NO_SLOT)));
    }

    /// The notes of all paused sandboxes that clients know.
    public static List<SavedNotes> in(Path records) {
        var found = new ArrayList<SavedNotes>();
        for (var id : SandboxNotes.list(records)) {
            SandboxNotes.read(records, id)
                    .filter(notes -> notes.isSaved() && notes.saved() != null && isKnown(notes))
                    .ifPresent(notes -> found.add(new SavedNotes(notes.paused(savedOf(notes)))));
        }
        return found;
    }

    /// The sandboxes that clients know, and that are paused and not saved yet.
    public static Set<SandboxId> frozen(Path records) {
        return SandboxNotes.list(records).stream()
                .flatMap(id -> SandboxNotes.read(records, id).stream())
                .filter(notes -> notes.isFrozen() && isKnown(notes))
                .map(notes -> notes.spec().id())
                .collect(Collectors.toSet());
    }

    /// The notes of a running sandbox, as if it were paused in a snapshot.
    ///
    /// @return empty if there is no such sandbox any more
    public static List<SavedNotes> ofRunning(Path records, SandboxId id, Saved saved) {
        return SandboxNotes.read(records, id)
                .filter(notes -> !notes.isSaved() && !notes.isFrozen() && isKnown(notes))
                .map(notes -> new SavedNotes(notes.nextGeneration().paused(saved)))
                .stream()
                .toList();
    }

    /// Whether sandboxes run, or may: those of a killed daemon do.
    public static boolean anyRuns(Path records) {
        return SandboxNotes.list(records).stream()
                .flatMap(id -> SandboxNotes.read(records, id).stream())
                .anyMatch(notes -> notes.slot() != SandboxNotes.NO_SLOT);
    }

    private static boolean isKnown(SandboxNotes notes) {
        return !notes.spare() && !notes.isSide();
    }

    private static Saved savedOf(SandboxNotes notes) {
        var saved = notes.saved();
        if (saved == null) {
            throw new IllegalStateException("a paused sandbox without a word on what was saved");
        }
        return saved;
    }

    /// Notes for a machine on which not all of it can be used.
    ///
    /// @param layers what becomes of the content keys of its layers
    public static byte[] adapted(byte[] notes, UnaryOperator<List<String>> layers, UnaryOperator<Saved> saved) {
        var old = Json.read(notes, SandboxNotes.class);
        if (old == null || old.saved() == null) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the backup holds notes of a sandbox without sense");
        }
        var fresh = old.paused(saved.apply(savedOf(old)));
        return Json.write(fresh.layers() == null ? fresh : fresh.on(layers.apply(fresh.layers())));
    }
}
