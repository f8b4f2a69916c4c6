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

/// What the node must remember of a sandbox to take it up again, or to clean up after it: one folder with a small file.
///
/// Written before anything is taken from the host, so that whatever a crash leaves can be found and removed.
///
/// Another Cay may have written them, after an upgrade or before. A field that older ones lack has the default of its
/// type; a change that this does not cover needs a new version.
///
/// @param slot       index of its slot; {@link #NO_SLOT} while it is paused
/// @param ready      whether it had come up; one that had not was never told of to anybody
/// @param spare      whether it was started in advance and is nobody's yet
/// @param phase      where in its life it is
/// @param saved      what there is of it while it does not run; else null
/// @param generation how often its saving was begun, which names the snapshot that holds it while it is paused
/// @param layers     content keys of what its container stands on, top first; null where it was not written yet
/// @param owner      the sandbox it is there for, if nobody but the node may know of it; else null
/// @param bare       whether nothing but its guest is started: a step of a build runs in it
/// @param version    of the form of the notes; 0 where it was not written yet
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
        /// The same, but it is frozen, and somebody may be at work on it.
        SAVING,
        /// The snapshot. A container is only kept until the disk has the snapshot.
        PAUSED,
        /// The snapshot, unless a container has come up from it.
        RESUMING
    }

    private static final Logger log = LoggerFactory.getLogger(SandboxNotes.class);
    private static final JsonMapper JSON = Json.mapper()
            .rebuild()
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();
    static final int VERSION = 3;

    /// A Cay that knows no volumes would resume a sandbox without its own.
    private static final int VERSION_WITHOUT_VOLUMES = 2;

    static final int NO_SLOT = -1;
    private static final String FILE = "sandbox.json";
    private static final int TRIES = 10;

    SandboxNotes(SandboxSpec spec, int slot, Instant startedAt, boolean ready, boolean spare) {
        this(spec, slot, startedAt, ready, spare, Phase.RUNNING, null, 0, null, null, false, versionOf(spec));
    }

    /// Those of one in which a step of a build runs. It is nobody's.
    static SandboxNotes ofStep(SandboxSpec spec, int slot, Instant startedAt) {
        return new SandboxNotes(
                spec, slot, startedAt, false, true, Phase.RUNNING, null, 0, null, null, true, versionOf(spec));
    }

    /// Those of one that is there for another alone.
    static SandboxNotes ofSide(SandboxSpec spec, int slot, Instant startedAt, SandboxId owner) {
        return new SandboxNotes(
                spec, slot, startedAt, false, false, Phase.RUNNING, null, 0, null, owner, false, versionOf(spec));
    }

    private static int versionOf(SandboxSpec spec) {
        return spec.volumes().isEmpty() ? VERSION_WITHOUT_VOLUMES : VERSION;
    }

    /// Whether it is there for another one alone. It means nothing to a later daemon.
    boolean isSide() {
        return owner != null;
    }

    /// Whose requests the edge inside serves. A side sandbox may reach what its owner may; one without internet access
    /// keeps its own id, which the edge does not know and lets nowhere.
    SandboxId edgeCaller() {
        return owner != null && spec.egress().internet() ? owner : spec.id();
    }

    /// Those of a Cay that could not pause do not say it.
    Phase phaseNow() {
        return phase == null ? Phase.RUNNING : phase;
    }

    /// Whether there is a snapshot that holds it.
    boolean isSaved() {
        return phaseNow() == Phase.PAUSED || phaseNow() == Phase.RESUMING;
    }

    /// Name of the snapshot that holds it, or would.
    String snapshot() {
        return spec.id().value() + "." + generation;
    }

    SandboxNotes nowReady() {
        return new SandboxNotes(
                spec, slot, startedAt, true, spare, phase, saved, generation, layers, owner, bare, versionOf(spec));
    }

    SandboxNotes withAccessToken(AccessToken token) {
        return with(spec.withAccessToken(token));
    }

    SandboxNotes withEgress(Egress egress) {
        return with(spec.withEgress(egress));
    }

    private SandboxNotes with(SandboxSpec other) {
        return new SandboxNotes(
                other, slot, startedAt, ready, spare, phase, saved, generation, layers, owner, bare, versionOf(other));
    }

    /// From now on it is somebody's.
    SandboxNotes given(SandboxSpec to, Instant at) {
        return new SandboxNotes(
                to, slot, at, true, false, phase, saved, generation, layers, owner, bare, versionOf(to));
    }

    SandboxNotes on(List<String> all) {
        return new SandboxNotes(
                spec, slot, startedAt, ready, spare, phase, saved, generation, all, owner, bare, versionOf(spec));
    }

    SandboxNotes nextGeneration() {
        return new SandboxNotes(
                spec,
                slot,
                startedAt,
                ready,
                spare,
                phase,
                saved,
                generation + 1,
                layers,
                owner,
                bare,
                versionOf(spec));
    }

    SandboxNotes paused(Saved what) {
        return in(Phase.PAUSED, startedAt, what);
    }

    SandboxNotes at(int place) {
        return new SandboxNotes(
                spec, place, startedAt, ready, spare, phase, saved, generation, layers, owner, bare, versionOf(spec));
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

    private SandboxNotes in(Phase next, Instant since, @Nullable Saved what) {
        return new SandboxNotes(
                spec, slot, since, ready, spare, next, what, generation, layers, owner, bare, versionOf(spec));
    }

    static Path folder(Path records, SandboxId id) {
        return records.resolve(id.value());
    }

    void write(Path records) {
        try {
            // Variables and the access token are in the notes, and what commands said lies beside them.
            var folder = RootOnly.directory(folder(records, spec.id()));
            var fresh = folder.resolve(FILE + ".new");
            WholeFile.draft(fresh, Json.write(this));
            // What runs is gone after a loss of power, but what is paused must not be.
            if (isSaved()) {
                force(fresh);
            }
            Files.move(fresh, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
            if (isSaved()) {
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

    /// Nothing when there is no file or no sense in it: such a sandbox can only be removed. One whose file cannot be
    /// read now may run, and is nothing to give up.
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
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("notes of a sandbox make no sense");
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

    /// Whoever wrote a last line about an ended process may do so while we look: then we look again.
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
