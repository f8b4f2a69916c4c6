package dev.cay.node.snapshot;

import dev.cay.life.Steps;
import dev.cay.life.Trees;
import dev.cay.node.host.Slot;
import dev.cay.node.image.LayerStore;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.process.CommandClock;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.node.storage.Pool;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Saves sandboxes and brings them back. Thread-safe for different names. {@link SnapshotStore} knows what was saved.
public final class Snapshots implements AutoCloseable {
    private static final Duration RECENT = Duration.ofMinutes(1);
    private static final Duration COPY_LIMIT = Duration.ofMinutes(2);

    private final SnapshotStore store;
    private final Pool pool;
    private final LayerStore layers;
    private final ContainerRuntime runtime;
    private final MemoryImages memories;
    private final HostThreads work;
    private final InstantSource clock;
    private final int maxProcesses;
    private final Settling settling;

    /// @param work threads for files
    public Snapshots(
            SnapshotStore store,
            Pool pool,
            LayerStore layers,
            ContainerRuntime runtime,
            HostThreads work,
            InstantSource clock,
            int maxProcesses) {
        this.store = store;
        this.pool = pool;
        this.layers = layers;
        this.runtime = runtime;
        this.memories = new MemoryImages(pool, runtime);
        this.work = work;
        this.clock = clock;
        this.maxProcesses = maxProcesses;
        this.settling = new Settling(pool::sync);
    }

    /// The sandbox to save.
    ///
    /// @param layers    content keys of all layers below its own files, top first
    /// @param processes directory with the notes of its commands
    /// @param touched   the list of pages that its last restore touched; it may not exist
    public record Subject(SandboxSpec spec, List<String> layers, Path processes, Path touched) {
        public Subject {
            layers = List.copyOf(layers);
        }

        private SandboxId id() {
            return spec.id();
        }
    }

    /// Saves a frozen sandbox, which stays frozen. The node must have closed its connections to the guest and to
    /// processes. A failure leaves nothing behind.
    ///
    /// @param mayRun whether it may run for a moment before a further try; never after its pause was acknowledged
    public Snapshot take(String name, Subject subject, Keep keep, boolean mayRun) {
        Path place = store.begin(name);
        try {
            Files.createDirectory(place);
            String loss = memories.save(subject.id(), place, keep, SnapshotStore.isPaused(name), mayRun);
            Steps.reach("memory-saved");
            pool.save(
                    subject.id(),
                    Snapshot.disk(place),
                    subject.spec().resources().diskSizeMB());
            Steps.reach("disk-saved");
            copy(subject.processes(), Snapshot.processes(place));
            Steps.reach("commands-saved");
            if (Files.exists(subject.touched())) {
                Files.copy(subject.touched(), Snapshot.touched(place));
            }
            var about = new Snapshot.About(
                    Snapshot.About.VERSION,
                    subject.spec(),
                    subject.layers(),
                    clock.instant(),
                    loss,
                    keep == Keep.FILES || loss != null ? null : memories.describe(subject.id(), place));
            var snapshot = store.finish(name, about);
            Steps.reach("saved");
            return snapshot;
        } catch (IOException e) {
            var failure = new CayException(ErrorKind.INTERNAL, "the sandbox could not be saved", e);
            undo(name, failure);
            throw failure;
        } catch (RuntimeException e) {
            undo(name, e);
            throw e;
        } finally {
            store.end(name);
        }
    }

    /// Refuses a sandbox whose memory could not be saved, as far as that is known before it is frozen.
    public void requireSavable(SandboxId id) {
        memories.requireSavable(id);
    }

    private void copy(Path from, Path to) throws IOException {
        work.call(COPY_LIMIT, () -> {
            Trees.copy(from, to);
            return true;
        });
    }

    private void undo(String name, Exception failure) {
        try {
            store.remove(name);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /// Restores a snapshot as a sandbox whose files, container and processes do not exist yet.
    ///
    /// @param mounts    mounts beside its own files
    /// @param processes directory for the notes of its commands
    public Container bring(
            Snapshot snapshot,
            SandboxSpec spec,
            Slot slot,
            List<ContainerSpec.Mount> mounts,
            Path processes,
            MemoryReturn memory) {
        var saved = memory == MemoryReturn.NONE ? null : snapshot.about().memory();
        if (saved != null) {
            memories.requireFit(snapshot, saved);
            requireSamePlaces(snapshot.spec(), spec);
        }
        var paths = snapshot.layers().stream().map(layers::require).toList();
        Path disk = pool.bring(snapshot.disk(), spec.id(), spec.resources().diskSizeMB());
        Steps.reach("disk-brought");
        var container = new ContainerSpec(
                spec.id(),
                slot,
                spec.resources(),
                maxProcesses,
                paths,
                disk,
                spec.id().value(),
                null,
                mounts);
        if (saved == null) {
            return runtime.start(container);
        }
        bringProcesses(snapshot, saved, processes);
        Steps.reach("commands-brought");
        if (memory == MemoryReturn.AT_ONCE) {
            return runtime.restore(container, snapshot.images(), saved.guest());
        }
        var touched = Optional.of(Snapshot.touched(snapshot.place())).filter(Files::exists);
        return runtime.restoreLazily(container, snapshot.images(), saved.guest(), touched);
    }

    /// Whether a sandbox can run while its memory is brought in from a snapshot.
    public boolean fills(Snapshot snapshot) {
        return snapshot.hasMemory() && runtime.fills(snapshot.images());
    }

    /// Checks that volumes are at the same places with the same permissions, because running programs have files open
    /// there.
    private static void requireSamePlaces(SandboxSpec before, SandboxSpec now) {
        if (!places(before).equals(places(now))) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the snapshot was taken with volumes at %s, and cannot be restored with volumes at %s"
                            .formatted(places(before), places(now)));
        }
    }

    private static Set<String> places(SandboxSpec spec) {
        return spec.volumes().stream()
                .map(volume -> volume.path() + (volume.readOnly() ? " (read-only)" : ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void bringProcesses(Snapshot snapshot, Snapshot.Memory saved, Path processes) {
        try {
            work.call(COPY_LIMIT, () -> {
                Trees.copy(snapshot.processes(), processes);
                CommandClock.wake(processes, saved.clock());
                return true;
            });
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "what is known of its commands cannot be brought back", e);
        }
    }

    /// A new sandbox that is made of a snapshot has the variables its maker knew, where the caller names no others.
    public SandboxSpec whole(SandboxSpec spec) {
        if (spec.snapshot() == null) {
            return spec;
        }
        var environment = new HashMap<>(store.require(spec.snapshot()).spec().environment());
        environment.putAll(spec.environment());
        return spec.withEnvironment(environment);
    }

    /// Returns when all snapshots made so far outlive a loss of power.
    public void sync() {
        pool.sync();
    }

    /// Runs the action when all snapshots made so far outlive a loss of power. It must be short.
    public void afterSync(Runnable action) {
        settling.afterSync(action);
    }

    /// Deletes a snapshot in the background.
    public void deleteLater(String name) {
        settling.soon(() -> store.delete(name));
    }

    /// Leaves waiting work to the next daemon.
    @Override
    public void close() {
        settling.close();
    }

    /// Compresses the memory of snapshots that were not used for a while. They can be restored meanwhile. Takes long.
    public void compressOld() {
        var recent = clock.instant().minus(RECENT);
        for (var each : store.readable()) {
            // One may have been deleted while others were compressed. The warm ones are read again and again, and shall
            // be read fast.
            store.find(each.name())
                    .filter(found -> !SnapshotStore.isWarm(found.name())
                            && !store.isUsed(found.name())
                            && found.hasMemory()
                            && found.about().at().isBefore(recent))
                    .ifPresent(memories::compress);
        }
    }
}
