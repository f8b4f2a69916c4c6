package dev.cay.node.snapshot;

import dev.cay.http.Json;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Notes of a snapshot from a backup, adapted to this machine.
public final class RestoredNotes {
    private Snapshot.About about;

    private RestoredNotes(Snapshot.About about) {
        this.about = about;
    }

    public static RestoredNotes of(byte[] json) {
        var about = Json.read(json, Snapshot.About.class);
        if (about == null || about.spec() == null || about.version() > Snapshot.About.VERSION) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the backup holds a snapshot whose notes this Cay cannot read");
        }
        return new RestoredNotes(about);
    }

    /// Content keys of all layers below its own files, top first.
    public List<String> layers() {
        return about.layers();
    }

    public int diskSizeMB() {
        return about.spec().resources().diskSizeMB();
    }

    public boolean hasMemory() {
        return about.memory() != null;
    }

    /// The machine that its memory was saved on.
    public Optional<SavedOn> origin() {
        return Optional.ofNullable(about.memory()).map(Snapshot.Memory::origin);
    }

    public void setLayers(List<String> layers) {
        about = with(layers, about.loss(), about.memory());
    }

    public void dropMemory(String why) {
        about = with(about.layers(), why, null);
    }

    private Snapshot.About with(List<String> layers, @Nullable String loss, Snapshot.@Nullable Memory memory) {
        return new Snapshot.About(about.version(), about.spec(), layers, about.at(), loss, memory);
    }

    public byte[] json() {
        return Json.write(about);
    }
}
