package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.life.TaskGroup;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.node.runtime.FuseMount;
import dev.cay.node.snapshot.MemoryReturn;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All host resources of a sandbox: notes, slot, files, container, and the snapshot while it is paused. Only its keeper
/// changes them, on the keeper's thread.
final class HostFootprint {
    private static final Logger log = LoggerFactory.getLogger(HostFootprint.class);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Set<ErrorKind> NOT_ITS_FAULT =
            Set.of(ErrorKind.UNAVAILABLE, ErrorKind.EXHAUSTED, ErrorKind.CANCELED);

    private final HostParts host;
    private final SavedParts saved;
    private volatile SandboxNotes notes;
    private volatile @Nullable Slot slot;

    private final MemoryFill filling;
    private volatile List<ContainerSpec.Mount> mounts = List.of();

    /// The guest version and memory size of a side sandbox whose memory is sealed on disk.
    private @Nullable String guest;

    private long memory;

    /// @param slot null for one that is paused
    HostFootprint(HostParts host, SavedParts saved, SandboxNotes notes, @Nullable Slot slot) {
        this.host = host;
        this.saved = saved;
        this.notes = notes;
        this.slot = slot;
        this.filling =
                new MemoryFill(host.runtime(), saved.store(), notes.spec().id(), host.records(), host.capacity());
    }

    /// Where its memory comes from, while that is brought in.
    MemoryFill filling() {
        return filling;
    }

    SandboxNotes notes() {
        return notes;
    }

    @Nullable
    Slot slot() {
        return slot;
    }

    Slot requireSlot() {
        var now = slot;
        if (now == null) {
            throw new IllegalStateException("a sandbox without a slot");
        }
        return now;
    }

    /// Directories that the container shall show beside its own files, from its next start on.
    void show(List<ContainerSpec.Mount> some) {
        mounts = List.copyOf(some);
    }

    private SandboxId id() {
        return notes.spec().id();
    }

    void note(SandboxNotes changed) {
        changed.write(host.records());
        notes = changed;
    }

    /// Brings the container of a new sandbox up, from its template or from the snapshot it is made of.
    Container begin() throws Exception {
        var spec = notes.spec();
        if (spec.snapshot() != null) {
            return bringNew(saved.store().require(spec.snapshot()));
        }
        // Memory that was saved without a place for a volume cannot get one.
        boolean cold = notes.bare() || !spec.volumes().isEmpty();
        var warm = cold ? Optional.<Snapshot>empty() : saved.warm().find(spec.kind());
        if (warm.isPresent()) {
            try {
                // For a spare nobody waits, and all memory at once takes less processor time.
                return notes.spare() ? bring(warm.get(), MemoryReturn.AT_ONCE) : bringNew(warm.get());
            } catch (RuntimeException e) {
                refuse(warm.get(), e);
            }
        }
        notes = notes.on(layers(spec));
        return host.runtime().start(prepare(spec));
    }

    /// Brings a new sandbox up, lazily if that is possible and works.
    private Container bringNew(Snapshot snapshot) {
        try {
            return bring(snapshot, MemoryReturn.LAZILY);
        } catch (RuntimeException e) {
            if (!filling.hasBegun() || (e instanceof CayException known && NOT_ITS_FAULT.contains(known.kind()))) {
                throw e;
            }
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a sandbox is restored with all of its memory");
            clear();
            return bring(snapshot, MemoryReturn.AT_ONCE);
        }
    }

    /// Handles a warm snapshot that cannot be restored: the sandbox starts cold instead, which is slower and otherwise
    /// the same.
    private void refuse(Snapshot warm, RuntimeException why) {
        if (why instanceof CayException known && NOT_ITS_FAULT.contains(known.kind())) {
            throw why;
        }
        log.atWarn()
                .setCause(why)
                .addKeyValue("sandbox", id())
                .addKeyValue("template", notes.spec().templateId())
                .log("a warm snapshot cannot be restored; the sandbox starts cold");
        clear();
        saved.warm().refuse(notes.spec().kind(), warm);
    }

    /// The disk is made by another program, which need not be waited for while the rest is gathered.
    private ContainerSpec prepare(SandboxSpec spec) throws Exception {
        List<Path> layers;
        try (var tasks = new TaskGroup()) {
            tasks.run(() -> host.pool().create(id(), spec.resources().diskSizeMB()));
            host.network().attach(id(), requireSlot(), spec.egress());
            layers = layers(spec).stream().map(host.layers()::require).toList();
            tasks.join(LIMIT);
        }
        return container(layers);
    }

    private ContainerSpec container(List<Path> layers) {
        return new ContainerSpec(
                id(),
                requireSlot(),
                notes.spec().resources(),
                host.maxProcesses(),
                layers,
                host.pool().layer(id()),
                id().value(),
                notes.owner(),
                mounts());
    }

    /// The mounts beside the sandbox's own files. Fails if a volume is missing.
    private List<ContainerSpec.Mount> mounts() {
        var all = new ArrayList<>(mounts);
        for (var volume : notes.spec().volumes()) {
            var place = host.pool().volumes().place(volume.volume());
            if (!Files.isDirectory(place)) {
                throw new CayException(
                        ErrorKind.NOT_RESTORED,
                        "volume %s, which the sandbox has at %s, is not on this machine"
                                .formatted(volume.volume(), volume.path()));
            }
            all.add(new ContainerSpec.Mount(place, volume.path(), volume.readOnly()));
        }
        return all;
    }

    /// Content keys of all layers below its own files, top first.
    private List<String> layers(SandboxSpec spec) {
        var keys = new ArrayList<String>();
        keys.add(host.nodeLayer().require(spec.layers()));
        keys.addAll(spec.layers());
        return keys;
    }

    /// Refuses to save its memory while something is mounted in it that cannot be saved.
    void requireSavable() {
        host.runtime().find(id()).ifPresent(FuseMount::refuse);
    }

    /// Saves a frozen one, whose pause was acknowledged, under the name of that pause.
    Snapshot save(Keep keep) {
        return saved.snapshots().take(notes.snapshot(), subject(), keep, false);
    }

    /// Saves it. It must be closed; it is frozen, and stays so.
    Snapshot save(String name, Keep keep) {
        note(notes.saving());
        host.runtime().freeze(id());
        Steps.reach("frozen");
        return saved.snapshots().take(name, subject(), keep, true);
    }

    /// Saves the files alone, which no process uses any more.
    ///
    /// @param loss why the memory is not kept
    /// @return false when there are none
    boolean saveRest(String loss) {
        if (!Files.exists(host.pool().layer(id()))) {
            return false;
        }
        saved.store().delete(notes.snapshot());
        saved.snapshots().take(notes.snapshot(), subject(), Keep.FILES, false);
        note(notes.paused(Saved.filesOnly(loss)));
        return true;
    }

    private Snapshots.Subject subject() {
        var layers = notes.layers() == null ? layers(notes.spec()) : notes.layers();
        // A sandbox that is created from the snapshot gets rules of its own; a proxy's password must not leave the
        // notes.
        return new Snapshots.Subject(
                notes.spec().withEgress(Egress.closed()),
                layers,
                processes(),
                MemoryFill.touched(host.records(), id()));
    }

    /// Thaws a container that was saved, if it still exists.
    Optional<Container> thaw() {
        host.runtime().thaw(id());
        return host.runtime().find(id());
    }

    /// Repairs a container whose saving was interrupted, and lets it run.
    Optional<Container> repair() {
        return host.runtime().goOn(id());
    }

    /// Gives a paused one a slot again, in which it may run.
    void enter() {
        host.capacity().require();
        var taken = host.plan().take(saved.frozen()::relieve);
        slot = taken;
        note(notes.at(taken.index()).resuming());
        Steps.reach("slot-taken");
    }

    /// Makes files and container out of a snapshot. Memory that is to come back lazily may come back at once.
    Container bring(Snapshot snapshot, MemoryReturn memory) {
        host.network().attach(id(), requireSlot(), notes.spec().egress());
        notes = notes.on(snapshot.layers());
        if (memory == MemoryReturn.LAZILY && saved.snapshots().fills(snapshot)) {
            filling.begin(snapshot.name(), snapshot.memoryBytes());
            return bringIn(snapshot, memory);
        }
        if (memory == MemoryReturn.NONE || !snapshot.hasMemory()) {
            return bringIn(snapshot, memory);
        }
        long bytes = snapshot.memoryBytes();
        host.capacity().promise(id(), () -> bytes);
        try {
            return bringIn(snapshot, MemoryReturn.AT_ONCE);
        } finally {
            host.capacity().expectNoMore(id());
        }
    }

    private Container bringIn(Snapshot snapshot, MemoryReturn memory) {
        return saved.snapshots().bring(snapshot, notes.spec(), requireSlot(), mounts(), processes(), memory);
    }

    /// Takes a side sandbox off the machine, with its memory sealed; its files stay where they are. It must be closed.
    /// When that fails, or {@link #takeUp} does, it can only be removed.
    void putAway() {
        var container = host.runtime()
                .find(id())
                .orElseThrow(() -> new CayException(ErrorKind.NOT_FOUND, "it does not run any more"));
        guest = host.runtime().guest(id());
        memory = host.runtime().usage(container).memory();
        host.capacity().requireMemory(memory);
        saved.sealed()
                .seal(
                        id(),
                        requireSlot(),
                        memory,
                        images -> host.runtime().checkpoint(id(), images, ContainerRuntime.After.END));
        host.network().detach(id(), requireSlot());
        note(notes.at(SandboxNotes.NO_SLOT));
        giveBack();
    }

    /// Restores a side sandbox from its sealed memory. For a moment its memory exists twice.
    Container takeUp() {
        host.capacity().requireMemory(2 * memory);
        var taken = host.plan().take(saved.frozen()::relieve);
        slot = taken;
        note(notes.at(taken.index()));
        host.network().attach(id(), taken, notes.spec().egress());
        var layers = Objects.requireNonNull(notes.layers()).stream()
                .map(host.layers()::require)
                .toList();
        String version = Objects.requireNonNull(guest);
        return saved.sealed().open(id(), taken, images -> host.runtime().restore(container(layers), images, version));
    }

    /// Removes all host resources of a running sandbox: first the container, then what it uses. Stops at the first
    /// failing step, because a resource that is still in use must not be given to another sandbox.
    void vacate() {
        clear();
        Steps.reach("original-ended");
        note(notes.at(SandboxNotes.NO_SLOT));
        giveBack();
    }

    /// Removes everything but the slot, which a new try needs.
    void clear() {
        vacate(host, id(), slot);
        filling.end();
    }

    /// Removes all of it; the notes last, so that what failed can be tried again.
    void remove() {
        clear();
        if (notes.generation() > 0) {
            saved.store().delete(notes.snapshot());
        }
        saved.sealed().delete(id());
        SandboxNotes.delete(host.records(), id());
        giveBack();
    }

    /// Removes everything of a sandbox without notes.
    static void remove(HostParts host, SavedParts saved, SandboxId id) {
        vacate(host, id, null);
        saved.store().deleteOf(id);
        SandboxNotes.delete(host.records(), id);
    }

    private static void vacate(HostParts host, SandboxId id, @Nullable Slot slot) {
        host.runtime().delete(id);
        if (slot != null) {
            host.network().detach(id, slot);
        }
        host.pool().delete(id);
    }

    private void giveBack() {
        var now = slot;
        slot = null;
        if (now != null) {
            host.plan().release(now);
        }
    }

    private Path processes() {
        return SandboxNotes.folder(host.records(), id()).resolve("processes");
    }
}
