package dev.cay.node.snapshot;

import dev.cay.http.Json;
import dev.cay.life.Steps;
import dev.cay.life.Trees;
import dev.cay.life.WholeFile;
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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Saves sandboxes and brings them back. Thread-safe for different names.
///
/// Each snapshot is a directory of the pool: `disk`, a copy of the sandbox's own files; `memory`, CRIU's
/// images, if that was saved; `processes`, what is known of running commands and their output; and
/// `about.json`, written last.
public final class Snapshots implements AutoCloseable {
    /// What the names of {@link WarmSnapshots} begin with; those of others have no such character.
    static final String WARM = "warm-";

    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(\\.[a-z0-9]+)?|" + WARM + "[a-z0-9]+");
    private static final String ABOUT = "about.json";
    private static final Duration RECENT = Duration.ofMinutes(1);
    private static final Duration COPY_LIMIT = Duration.ofMinutes(2);

    private final Pool pool;
    private final LayerStore layers;
    private final ContainerRuntime runtime;
    private final MemoryImages memories;
    private final HostThreads work;
    private final InstantSource clock;
    private final int maxProcesses;
    private final Path places;
    private final Settling settling;

    /// What never changes is read once.
    private final Map<String, Long> memorySizes = new ConcurrentHashMap<>();

    private final HeldSnapshots held = new HeldSnapshots(this::remove);
    /// Being made now, so that nobody takes them for leftovers.
    private final Set<String> unfinished = ConcurrentHashMap.newKeySet();

    /// @param work threads for files
    public Snapshots(
            Pool pool,
            LayerStore layers,
            ContainerRuntime runtime,
            HostThreads work,
            InstantSource clock,
            int maxProcesses) {
        this.pool = pool;
        this.layers = layers;
        this.runtime = runtime;
        this.memories = new MemoryImages(pool, runtime);
        this.work = work;
        this.clock = clock;
        this.maxProcesses = maxProcesses;
        this.places = pool.directory("snapshots");
        this.settling = new Settling(pool::sync);
    }

    /// What is to be saved.
    ///
    /// @param layers    content keys of all layers below its own files, top first
    /// @param processes directory with what is known of its commands
    public record Subject(SandboxSpec spec, List<String> layers, Path processes) {
        public Subject {
            layers = List.copyOf(layers);
        }

        private SandboxId id() {
            return spec.id();
        }
    }

    /// Saves a frozen sandbox, which stays frozen. The node must have let go of its guest and of its processes. When it
    /// fails nothing is left of the attempt.
    public Snapshot take(String name, Subject subject, Keep keep) {
        Path place = place(name);
        if (Files.exists(place)) {
            throw new CayException(ErrorKind.ALREADY_EXISTS, "there is a snapshot %s already".formatted(name));
        }
        unfinished.add(name);
        try {
            Files.createDirectory(place);
            String loss = memories.save(subject.id(), place, keep, isPaused(name));
            Steps.reach("memory-saved");
            pool.save(
                    subject.id(),
                    Snapshot.disk(place),
                    subject.spec().resources().diskSizeMB());
            Steps.reach("disk-saved");
            copy(subject.processes(), Snapshot.processes(place));
            Steps.reach("commands-saved");
            var about = new Snapshot.About(
                    Snapshot.About.VERSION,
                    subject.spec(),
                    subject.layers(),
                    clock.instant(),
                    loss,
                    keep == Keep.FILES || loss != null ? null : memories.describe(subject.id(), place));
            write(place, about);
            Steps.reach("saved");
            return new Snapshot(name, place, about);
        } catch (IOException e) {
            var failure = new CayException(ErrorKind.INTERNAL, "the sandbox could not be saved", e);
            undo(name, failure);
            throw failure;
        } catch (RuntimeException e) {
            undo(name, e);
            throw e;
        } finally {
            unfinished.remove(name);
        }
    }

    private void copy(Path from, Path to) throws IOException {
        work.call(COPY_LIMIT, () -> {
            Trees.copy(from, to);
            return true;
        });
    }

    private static void write(Path place, Snapshot.About about) throws IOException {
        WholeFile.write(place.resolve(ABOUT), Json.write(about));
    }

    private void undo(String name, Exception failure) {
        try {
            remove(name);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /// Brings a snapshot back as a sandbox whose files, container and processes do not exist yet.
    ///
    /// @param mounts    what it shows beside its own files
    /// @param processes where what is known of its commands shall lie
    /// @param memory    false to start anew on its files
    public Container bring(
            Snapshot snapshot,
            SandboxSpec spec,
            Slot slot,
            List<ContainerSpec.Mount> mounts,
            Path processes,
            boolean memory) {
        var saved = memory ? snapshot.about().memory() : null;
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
        return runtime.restore(container, snapshot.images(), saved.guest());
    }

    /// What runs knows the places of its volumes, and whether it can write there.
    private static void requireSamePlaces(SandboxSpec before, SandboxSpec now) {
        if (!places(before).equals(places(now))) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "what was saved had volumes at %s, and cannot go on with volumes at %s"
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
        var environment = new HashMap<>(require(spec.snapshot()).spec().environment());
        environment.putAll(spec.environment());
        return spec.withEnvironment(environment);
    }

    public Optional<Snapshot> find(String name) {
        Path place = place(name);
        try {
            return Optional.ofNullable(Json.read(Files.readAllBytes(place.resolve(ABOUT)), Snapshot.About.class))
                    .map(about -> new Snapshot(name, place, about));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "cannot read snapshot %s".formatted(name), e);
        } catch (CayException e) {
            throw new CayException(ErrorKind.NOT_RESTORED, "snapshot %s makes no sense".formatted(name), e);
        }
    }

    /// Whether it is there and can be read. A machine that lost power may have lost it.
    public boolean isWhole(String name) {
        try {
            return find(name).filter(snapshot -> Files.exists(snapshot.disk())).isPresent();
        } catch (CayException e) {
            if (e.kind() == ErrorKind.NOT_RESTORED) {
                return false;
            }
            throw e;
        }
    }

    public Snapshot require(String name) {
        return find(name)
                .orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "there is no snapshot %s here".formatted(name)));
    }

    /// All that are whole, hold no paused sandbox and are not the node's own.
    public Set<String> named() {
        var named = names();
        named.removeIf(name -> isPaused(name) || isWarm(name));
        return named;
    }

    /// Bytes that each holds, files and memory, also of those that hold a paused sandbox. File work.
    public Map<String, Long> sizes() {
        var names = names();
        memorySizes.keySet().retainAll(names);
        var files = pool.usedBySaved(
                names.stream().map(name -> Snapshot.disk(place(name))).toList());
        var sizes = new HashMap<String, Long>();
        for (String name : names) {
            sizes.put(name, files.getOrDefault(Snapshot.disk(place(name)), 0L) + memorySize(name));
        }
        return sizes;
    }

    private long memorySize(String name) {
        Long known = memorySizes.get(name);
        if (known != null) {
            return known;
        }
        var snapshot = isWhole(name) ? find(name) : Optional.<Snapshot>empty();
        snapshot.ifPresent(found -> memorySizes.put(name, found.memoryBytes()));
        return snapshot.map(Snapshot::memoryBytes).orElse(0L);
    }

    /// Those that are the node's own.
    Set<String> warm() {
        var warm = names();
        warm.removeIf(name -> !isWarm(name));
        return warm;
    }

    /// Whether what it holds is a sandbox that is paused, or about to be.
    private static boolean isPaused(String name) {
        return name.indexOf('.') >= 0;
    }

    private static boolean isWarm(String name) {
        return name.startsWith(WARM);
    }

    private List<String> readable() {
        return names().stream().filter(this::isWhole).toList();
    }

    private Set<String> names() {
        var names = new HashSet<String>();
        for (String name : all()) {
            if (Files.exists(place(name).resolve(ABOUT))) {
                names.add(name);
            }
        }
        return names;
    }

    /// Deletes all that hold a paused sandbox, or held it.
    public void deleteOf(SandboxId id) {
        all().stream().filter(name -> name.startsWith(id.value() + ".")).forEach(this::delete);
    }

    /// Removes what was never finished, and what held a sandbox that is elsewhere now.
    ///
    /// @param claimed whether a sandbox lies in the snapshot of this name
    public void tidy(Predicate<String> claimed) {
        for (String name : all()) {
            boolean whole = Files.exists(place(name).resolve(ABOUT));
            if (!unfinished.contains(name)
                    && !held.isKept(name)
                    && !(whole && (!isPaused(name) || claimed.test(name)))) {
                delete(name);
            }
        }
    }

    private List<String> all() {
        try (var list = Files.list(places)) {
            return list.map(place -> place.getFileName().toString())
                    .filter(name -> NAME.matcher(name).matches())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Unknown names are fine. From the first moment on it is no snapshot any more.
    public void delete(String name) {
        try {
            held.delete(name, place(name).resolve(ABOUT));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete snapshot " + name, e);
        }
    }

    /// Keeps the files of all snapshots on the disk until the hold is closed, also of those that are deleted meanwhile.
    public SnapshotHold hold() {
        return new SnapshotHold(held, places);
    }

    private void remove(String name) {
        Path place = place(name);
        pool.deleteSaved(Snapshot.disk(place));
        try {
            Trees.delete(place);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete snapshot " + name, e);
        }
    }

    /// Returns when all snapshots made so far outlive a loss of power.
    public void sync() {
        pool.sync();
    }

    /// Runs the action when all snapshots made so far outlive a loss of power. It must be short.
    public void afterSync(Runnable action) {
        settling.afterSync(action);
    }

    /// Nobody needs it any more, and nobody waits for it to be gone.
    public void deleteLater(String name) {
        settling.soon(() -> delete(name));
    }

    /// What has not been settled is left to the next daemon.
    @Override
    public void close() {
        settling.close();
    }

    /// Makes the memory of those that nobody has asked for in a while take less room. They can be brought back
    /// meanwhile. Takes its time.
    public void compressOld() {
        var recent = clock.instant().minus(RECENT);
        for (String name : readable()) {
            // The warm ones are read again and again, and shall be read fast.
            find(name)
                    .filter(found -> !isWarm(name)
                            && found.hasMemory()
                            && found.about().at().isBefore(recent))
                    .ifPresent(memories::compress);
        }
    }

    /// Content keys of the layers that saved sandboxes stand on.
    ///
    /// @param ignored names of snapshots that do not count
    public Set<String> layersInUse(Set<String> ignored) {
        var used = new HashSet<String>();
        for (String name : readable()) {
            find(name).filter(found -> !ignored.contains(name)).ifPresent(found -> {
                used.addAll(found.layers());
                used.addAll(found.spec().layers());
            });
        }
        return used;
    }

    /// Which guests some saved sandbox runs.
    public Set<String> guestsInUse() {
        var used = new HashSet<String>();
        for (String name : readable()) {
            find(name).map(Snapshot::about).map(Snapshot.About::memory).ifPresent(memory -> used.add(memory.guest()));
        }
        return used;
    }

    private Path place(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "not a name for a snapshot: " + name);
        }
        return places.resolve(name);
    }
}
