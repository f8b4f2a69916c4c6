package dev.cay.node.snapshot;

import dev.cay.life.Trees;
import dev.cay.node.process.CommandClock;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.storage.Pool;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The memory part of snapshots: what CRIU wrote of a sandbox's processes, and whether it can be used here and now.
final class MemoryImages {
    private static final int TRIES = 4;
    private static final Duration MOMENT = Duration.ofMillis(100);
    private static final Logger log = LoggerFactory.getLogger(MemoryImages.class);
    private static final String COMPRESSED = "compressed";

    private final Pool pool;
    private final ContainerRuntime runtime;
    private volatile @Nullable SavedOn here;

    MemoryImages(Pool pool, ContainerRuntime runtime) {
        this.pool = pool;
        this.runtime = runtime;
    }

    /// Saves the memory as far as wanted; the sandbox stays frozen.
    ///
    /// @param place  directory of the snapshot
    /// @param paused whether the sandbox is being paused: disk space may be reserved for that
    /// @param mayRun whether it may run for a moment where that helps
    /// @return why there is no memory, if that is allowed
    @Nullable
    String save(SandboxId id, Path place, Keep keep, boolean paused, boolean mayRun) throws IOException {
        if (keep == Keep.FILES) {
            return null;
        }
        try {
            here();
            long memory = runtime.find(id).map(runtime::usage).orElseThrow().memory();
            try (var _ = paused ? pool.roomFor(id, memory) : pool.room(memory)) {
                checkpoint(
                        id,
                        Snapshot.images(place),
                        paused ? ContainerRuntime.After.STAY_PAUSED : ContainerRuntime.After.STAY,
                        mayRun ? TRIES : 1);
            }
            return null;
        } catch (CayException e) {
            if (keep == Keep.MEMORY) {
                throw e;
            }
            Trees.delete(Snapshot.images(place));
            log.atWarn()
                    .addKeyValue("sandbox", id)
                    .addKeyValue("reason", e.userMessage())
                    .log("only the files of a sandbox are saved");
            return e.userMessage();
        }
    }

    /// Checkpoints, with retries. CRIU cannot save a process that is ending, or a connection that is not accepted yet.
    /// Both are resolved only while the sandbox runs, so it runs for a moment before the next try.
    private void checkpoint(SandboxId id, Path images, ContainerRuntime.After after, int most) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                runtime.checkpoint(id, images, after);
                return;
            } catch (CayException e) {
                if (e.kind() != ErrorKind.CONFLICT) {
                    throw e;
                }
                if (tries == most) {
                    throw new CayException(ErrorKind.NOT_SAVED, e.userMessage(), e);
                }
            }
            Trees.delete(images);
            runtime.thaw(id);
            LockSupport.parkNanos(MOMENT.toNanos());
            runtime.freeze(id);
        }
    }

    /// The facts that a restore of these images needs.
    Snapshot.Memory describe(SandboxId id, Path place) throws IOException {
        var sizes = new HashMap<String, Long>();
        try (var images = Files.list(Snapshot.images(place))) {
            for (Path image : images.toList()) {
                sizes.put(image.getFileName().toString(), Files.size(image));
            }
        }
        return new Snapshot.Memory(runtime.guest(id), here(), sizes, CommandClock.now());
    }

    /// Refuses before anything is done what could not be saved here.
    void requireSavable(SandboxId id) {
        here();
        runtime.requireSavable(id);
    }

    /// Refuses what another machine has saved, and what the disk has lost.
    void requireFit(Snapshot snapshot, Snapshot.Memory memory) {
        memory.origin().unfitFor(here()).ifPresent(reason -> {
            throw new CayException(ErrorKind.NOT_RESTORED, "its memory cannot be brought back: " + reason);
        });
        memory.images().forEach((name, size) -> {
            Path image = snapshot.images().resolve(name);
            if (!Files.exists(image) || image.toFile().length() != size) {
                throw new CayException(
                        ErrorKind.NOT_RESTORED,
                        "its memory cannot be brought back: the machine lost power before all of it was on the disk");
            }
        });
    }

    /// Compresses the images, once; they can be used meanwhile.
    void compress(Snapshot snapshot) {
        Path done = snapshot.place().resolve(COMPRESSED);
        if (Files.exists(done)) {
            return;
        }
        try {
            pool.compress(snapshot.images());
            Files.createFile(done);
        } catch (CayException | IOException e) {
            // The snapshot is probably being deleted.
            log.atDebug().setCause(e).addKeyValue("snapshot", snapshot.name()).log("a snapshot was not compressed");
        }
    }

    /// The facts about this machine, read once.
    private SavedOn here() {
        var known = here;
        if (known == null) {
            known = SavedOn.here();
            here = known;
        }
        return known;
    }
}
