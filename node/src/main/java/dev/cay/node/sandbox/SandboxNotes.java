package dev.cay.node.sandbox;

import dev.cay.http.Json;
import dev.cay.life.RootOnly;
import dev.cay.life.Trees;
import dev.cay.life.WholeFile;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// The node's record of a sandbox, by which the next daemon adopts it or cleans up after it: one folder with a small
/// file.
///
/// Written before any host resource is taken, so that everything can be found and removed after a crash.
///
/// Another version of Cay may have written it. A field that older ones lack has the default of its type; a change that
/// this does not cover needs a new version.
///
/// @param slot       index of its slot; {@link #NO_SLOT} when it is paused and not in memory
/// @param ready      whether it had started completely; if not, no client knows it
/// @param spare      whether it was started in advance and has no owner yet
/// @param phase      the state of the sandbox
/// @param saved      what was saved of it, while it does not run; else null
/// @param generation how often a save was begun, which names the snapshot of a pause
/// @param layers     content keys of its container's layers, top first; null in older notes
/// @param owner      the sandbox that a side sandbox serves; null for others
/// @param bare       whether only its guest is started: a step of a build runs in it
/// @param version    of the form of the notes; 0 in older notes
record SandboxNotes(
        SandboxSpec spec,
        int slot,
        Instant startedAt,
        boolean ready,
        boolean spare,
        @Nullable Phase phase,
        @Nullable Saved saved,
        int generation,
        @Nullable List<String> layers,
        @Nullable SandboxId owner,
        boolean bare,
        int version) {
    /// Which of two things a crash may have left is the sandbox.
    enum Phase {
        /// The container. A snapshot of this generation was never finished.
        RUNNING,
        /// The container is frozen, and a save may be in progress. The sandbox goes on afterwards.
        SAVING,
        /// The container, which is frozen: the sandbox is paused and not saved yet. A snapshot of this generation may
        /// be unfinished.
        FROZEN,
        /// The snapshot. A frozen container is the same, as long as it is there.
        PAUSED,
        /// The snapshot, unless a container has come up from it.
        RESUMING
    }

    private static final Logger log = LoggerFactory.getLogger(SandboxNotes.class);
    private static final JsonMapper JSON = Json.mapper()
            .rebuild()
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();
    static final int VERSION = 4;

    /// A Cay that does not know the phase would remove the sandbox.
    private static final int VERSION_BEFORE_FROZEN = 3;

    /// A Cay that knows no volumes would resume a sandbox without its own.
    private static final int VERSION_WITHOUT_VOLUMES = 2;

    static final int NO_SLOT = -1;
    private static final String FILE = "sandbox.json";
    private static final int TRIES = 10;

    SandboxNotes(SandboxSpec spec, int slot, Instant startedAt, boolean ready, boolean spare) {
        this(spec, slot, startedAt, ready, spare, Phase.RUNNING, null, 0, null, null, false, versionOf(spec));
    }

    /// Notes of a sandbox in which a step of a build runs. It has no owner.
    static SandboxNotes ofStep(SandboxSpec spec, int slot, Instant startedAt) {
        return new SandboxNotes(
                spec, slot, startedAt, false, true, Phase.RUNNING, null, 0, null, null, true, versionOf(spec));
    }

    /// Notes of a side sandbox.
    static SandboxNotes ofSide(SandboxSpec spec, int slot, Instant startedAt, SandboxId owner) {
        return new SandboxNotes(
                spec, slot, startedAt, false, false, Phase.RUNNING, null, 0, null, owner, false, versionOf(spec));
    }

    private static int versionOf(SandboxSpec spec) {
        return spec.volumes().isEmpty() ? VERSION_WITHOUT_VOLUMES : VERSION_BEFORE_FROZEN;
    }

    private static int versionOf(SandboxSpec spec, @Nullable Phase phase) {
        return phase == Phase.FROZEN ? VERSION : versionOf(spec);
    }

    /// Whether it is a side sandbox. A later daemon removes it.
    boolean isSide() {
        return owner != null;
    }

    /// The id by which the edge inside judges its requests. A side sandbox may reach what its owner may; one without
    /// internet access keeps its own id, which the edge does not know and refuses.
    SandboxId edgeCaller() {
        return owner != null && spec.egress().internet() ? owner : spec.id();
    }

    /// The phase; notes of a Cay that could not pause do not have it.
    Phase phaseNow() {
        return phase == null ? Phase.RUNNING : phase;
    }

    /// Whether there is a snapshot that holds it.
    boolean isSaved() {
        return phaseNow() == Phase.PAUSED || phaseNow() == Phase.RESUMING;
    }

    /// Whether it is paused, and its frozen container is all there is of its memory.
    boolean isFrozen() {
        return phaseNow() == Phase.FROZEN;
    }

    /// Name of the snapshot that holds it, or would.
    String snapshot() {
        return spec.id().value() + "." + generation;
    }

    SandboxNotes nowReady() {
        return new SandboxNotes(
                spec,
                slot,
                startedAt,
                true,
                spare,
                phase,
                saved,
                generation,
                layers,
                owner,
                bare,
                versionOf(spec, phase));
    }

    SandboxNotes withAccessToken(AccessToken token) {
        return with(spec.withAccessToken(token));
    }

    SandboxNotes withEgress(Egress egress) {
        return with(spec.withEgress(egress));
    }

    private SandboxNotes with(SandboxSpec other) {
        return with(other, slot, generation, layers);
    }

    /// Notes of a spare that gets an owner.
    SandboxNotes given(SandboxSpec to, Instant at) {
        return new SandboxNotes(
                to, slot, at, true, false, phase, saved, generation, layers, owner, bare, versionOf(to, phase));
    }

    SandboxNotes on(List<String> all) {
        return with(spec, slot, generation, all);
    }

    SandboxNotes nextGeneration() {
        return with(spec, slot, generation + 1, layers);
    }

    SandboxNotes paused(Saved what) {
        return in(Phase.PAUSED, startedAt, what);
    }

    /// @param what what is known of the tries to save it
    SandboxNotes frozen(Saved what) {
        return in(Phase.FROZEN, startedAt, what);
    }

    SandboxNotes at(int place) {
        return with(spec, place, generation, layers);
    }

    SandboxNotes saving() {
        return in(Phase.SAVING, startedAt, null);
    }

    SandboxNotes resuming() {
        return in(Phase.RESUMING, startedAt, saved);
    }

    SandboxNotes running(Instant since) {
        return in(Phase.RUNNING, since, null);
    }

    /// These notes, with these values in place of their own.
    private SandboxNotes with(SandboxSpec spec, int slot, int generation, @Nullable List<String> layers) {
        return new SandboxNotes(
                spec,
                slot,
                startedAt,
                ready,
                spare,
                phase,
                saved,
                generation,
                layers,
                owner,
                bare,
                versionOf(spec, phase));
    }

    private SandboxNotes in(Phase next, Instant since, @Nullable Saved what) {
        return new SandboxNotes(
                spec, slot, since, ready, spare, next, what, generation, layers, owner, bare, versionOf(spec, next));
    }

    static Path folder(Path records, SandboxId id) {
        return records.resolve(id.value());
    }

    void write(Path records) {
        try {
            // For root only: the notes contain variables and the access token, and the output of commands is stored
            // beside them.
            var folder = RootOnly.directory(folder(records, spec.id()));
            var fresh = folder.resolve(FILE + ".new");
            WholeFile.draft(fresh, Json.write(this));
            // A running sandbox does not survive a loss of power, but a paused one must.
            boolean lasts = isSaved() || isFrozen();
            if (lasts) {
                force(fresh);
            }
            Files.move(fresh, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
            if (lasts) {
                force(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot note sandbox " + spec.id(), e);
        }
    }

    private static void force(Path path) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /// Reads notes; empty when there is no file or it is not valid: such a sandbox can only be removed. An I/O error is
    /// thrown, because the sandbox may run.
    static Optional<SandboxNotes> read(Path records, SandboxId id) {
        try {
            return Optional.ofNullable(JSON.readValue(
                            Files.readAllBytes(folder(records, id).resolve(FILE)), SandboxNotes.class))
                    .filter(notes -> notes.spec().id().equals(id));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(folder(records, id).resolve(FILE), e);
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("the notes of a sandbox cannot be parsed");
            return Optional.empty();
        }
    }

    private static CayException unreadable(Path file, IOException e) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "cannot read %s: %s; nothing was changed, fix that and start again".formatted(file, e.getMessage()),
                e);
    }

    /// Refuses a directory in which a newer Cay has left sandboxes that run: this one would take them for broken.
    static void requireKnown(Path records) {
        if (!Files.isDirectory(records)) {
            return;
        }
        for (var id : list(records)) {
            int version = version(folder(records, id).resolve(FILE));
            if (version > VERSION) {
                throw new CayException(
                        ErrorKind.CONFLICT,
                        "sandbox %s was made by a newer Cay, whose notes have version %d; this Cay knows up to %d. Nothing was changed: start the newer Cay again, or end its sandboxes with it by `cay down --all`"
                                .formatted(id, version, VERSION));
            }
        }
    }

    private static int version(Path file) {
        try {
            return JSON.readTree(Files.readAllBytes(file)).path("version").asInt(0);
        } catch (NoSuchFileException | JacksonException _) {
            return 0;
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    static List<SandboxId> list(Path records) {
        try (var folders = Files.list(RootOnly.directory(records))) {
            return SandboxId.among(folders.map(folder -> folder.getFileName().toString()));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + records, e);
        }
    }

    /// Deletes the folder. A thread may still be writing about an ended process; then the deletion is repeated.
    static void delete(Path records, SandboxId id) {
        var folder = folder(records, id);
        for (int tries = 1; Files.exists(folder); tries++) {
            try {
                Trees.delete(folder);
            } catch (IOException e) {
                if (tries == TRIES) {
                    throw new CayException(ErrorKind.INTERNAL, "cannot remove " + folder, e);
                }
            }
        }
    }
}
