package dev.cay.node.snapshot;

import dev.cay.http.Json;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One saved state. Its files are never changed; each sandbox that starts from it gets a copy.
///
/// @param place directory in the pool
public record Snapshot(String name, Path place, About about) {
    /// The notes of a snapshot; written last, so a directory without them is unfinished.
    ///
    /// @param version of the form of these notes
    /// @param spec    of the saved sandbox
    /// @param layers  content keys of all layers below its own files, top first
    /// @param loss    why its memory was not saved although it was wanted
    /// @param memory  null when there are only files
    record About(
            int version,
            SandboxSpec spec,
            List<String> layers,
            Instant at,
            @Nullable String loss,
            @Nullable Memory memory) {
        static final int VERSION = 1;

        About {
            layers = List.copyOf(layers);
        }
    }

    /// The facts that a restore checks first.
    ///
    /// @param guest  version of the guest that runs as its first process
    /// @param clock  time of the save, by the clock of its commands' deadlines
    /// @param origin the machine it was saved on
    /// @param images sizes of the image files: a shorter one was damaged by a crash of the machine
    record Memory(String guest, SavedOn origin, Map<String, Long> images, Instant clock) {
        Memory {
            images = Map.copyOf(images);
        }
    }

    public SandboxSpec spec() {
        return about.spec();
    }

    public List<String> layers() {
        return about.layers();
    }

    public boolean hasMemory() {
        return about.memory() != null;
    }

    /// The notes as JSON, for another machine.
    public byte[] notes() {
        return Json.write(about);
    }

    /// Which guest runs as its first process, if its memory was saved.
    public Optional<String> guest() {
        return Optional.ofNullable(about.memory()).map(Memory::guest);
    }

    /// Size of the files that hold its memory when it was saved.
    public long memoryBytes() {
        var memory = about.memory();
        return memory == null
                ? 0
                : memory.images().values().stream().mapToLong(Long::longValue).sum();
    }

    public Saved saved() {
        return new Saved(hasMemory(), about.loss(), null);
    }

    /// The files that differ from its layers, as overlayfs writes them.
    public Path changedFiles() {
        return disk().resolve("upper");
    }

    public Instant at() {
        return about.at();
    }

    public Path disk() {
        return disk(place);
    }

    /// CRIU's images; not there unless its memory was saved.
    public Path images() {
        return images(place);
    }

    /// Directory with the notes of its commands.
    public Path processes() {
        return processes(place);
    }

    static Path disk(Path place) {
        return place.resolve("disk");
    }

    static Path images(Path place) {
        return place.resolve("memory");
    }

    /// The list of pages that a restore touches first; not there before one has.
    static Path touched(Path place) {
        return place.resolve("touched");
    }

    static Path processes(Path place) {
        return place.resolve("processes");
    }
}
