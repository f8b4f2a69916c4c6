package dev.cay.node.snapshot;

import dev.cay.http.Json;
import dev.cay.life.Trees;
import dev.cay.life.WholeFile;
import dev.cay.node.storage.Pool;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The snapshots in the pool, by their names. Thread-safe for different names.
///
/// Each snapshot is a directory of the pool: `disk`, a copy of the sandbox's own files; `memory`, CRIU's
/// images, if that was saved; `processes`, what is known of running commands and their output; and
/// `about.json`, written last.
public final class SnapshotStore {
    private static final Logger log = LoggerFactory.getLogger(SnapshotStore.class);

    /// What the names of {@link WarmSnapshots} begin with; those of others have no such character.
    static final String WARM = "warm-";

    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(\\.[a-z0-9]+)?|" + WARM + "[a-z0-9]+");
    private static final String ABOUT = "about.json";

    private final Pool pool;
    private final Path places;

    /// What never changes is read once.
    private final Map<String, Long> memorySizes = new ConcurrentHashMap<>();

    private final HeldSnapshots held = new HeldSnapshots(this::remove);

    /// Being made now, so that nobody takes them for leftovers.
    private final Set<String> unfinished = ConcurrentHashMap.newKeySet();

    public SnapshotStore(Pool pool) {
        this.pool = pool;
        this.places = pool.directory("snapshots");
    }

    /// Keeps the name for a snapshot that is about to be made, until {@link #end}; refused if there is one already.
    ///
    /// @return the place of the snapshot's directory, which is not there yet
    Path begin(String name) {
        Path place = place(name);
        if (Files.exists(place)) {
            throw new CayException(ErrorKind.ALREADY_EXISTS, "there is a snapshot %s already".formatted(name));
        }
        unfinished.add(name);
        return place;
    }

    /// Writes what is to be known of a snapshot, the last of its files. From now on it can be found.
    Snapshot finish(String name, Snapshot.About about) throws IOException {
        Path place = place(name);
        WholeFile.write(place.resolve(ABOUT), Json.write(about));
        return new Snapshot(name, place, about);
    }

    /// The making of a snapshot is over, whether it was finished or not.
    void end(String name) {
        unfinished.remove(name);
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
            throw new CayException(ErrorKind.NOT_RESTORED, "snapshot %s cannot be parsed".formatted(name), e);
        }
    }

    public Snapshot require(String name) {
        return find(name)
                .orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "there is no snapshot %s here".formatted(name)));
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

    /// All that are whole, hold no paused sandbox and are not the node's own.
    public Set<String> named() {
        var named = names();
        named.removeIf(name -> isPaused(name) || isWarm(name));
        return named;
    }

    /// Those that are the node's own.
    Set<String> warm() {
        var warm = names();
        warm.removeIf(name -> !isWarm(name));
        return warm;
    }

    /// All that can be read.
    List<Snapshot> readable() {
        return names().stream()
                .filter(this::isWhole)
                .flatMap(name -> find(name).stream())
                .toList();
    }

    /// Whether what it holds is a sandbox that is paused, or about to be.
    static boolean isPaused(String name) {
        return name.indexOf('.') >= 0;
    }

    static boolean isWarm(String name) {
        return name.startsWith(WARM);
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

    private List<String> all() {
        try (var list = Files.list(places)) {
            return list.map(place -> place.getFileName().toString())
                    .filter(name -> NAME.matcher(name).matches())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path place(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "not a name for a snapshot: " + name);
        }
        return places.resolve(name);
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

    /// Content keys of the layers that saved sandboxes stand on.
    ///
    /// @param ignored names of snapshots that do not count
    public Set<String> layersInUse(Set<String> ignored) {
        var used = new HashSet<String>();
        for (var snapshot : readable()) {
            if (!ignored.contains(snapshot.name())) {
                used.addAll(snapshot.layers());
                used.addAll(snapshot.spec().layers());
            }
        }
        return used;
    }

    /// Which guests some saved sandbox runs.
    public Set<String> guestsInUse() {
        var used = new HashSet<String>();
        for (var snapshot : readable()) {
            var memory = snapshot.about().memory();
            if (memory != null) {
                used.add(memory.guest());
            }
        }
        return used;
    }

    /// Removes what was never finished, and what held a sandbox that is elsewhere now. A program that an earlier daemon
    /// started may still write to one of them; that one is left for the next time.
    ///
    /// @param claimed whether a sandbox lies in the snapshot of this name
    public void tidy(Predicate<String> claimed) {
        for (String name : all()) {
            boolean whole = Files.exists(place(name).resolve(ABOUT));
            if (!unfinished.contains(name)
                    && !held.isKept(name)
                    && !(whole && (!isPaused(name) || claimed.test(name)))) {
                tryDelete(name);
            }
        }
    }

    private void tryDelete(String name) {
        try {
            delete(name);
        } catch (CayException e) {
            log.atWarn().setCause(e).addKeyValue("snapshot", name).log("an unused snapshot is deleted later");
        }
    }

    /// Deletes all that hold a paused sandbox, or held it.
    public void deleteOf(SandboxId id) {
        all().stream().filter(name -> name.startsWith(id.value() + ".")).forEach(this::delete);
    }

    /// Unknown names are fine. From the first moment on it is no snapshot any more.
    public void delete(String name) {
        try {
            held.delete(name, place(name).resolve(ABOUT));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete snapshot " + name, e);
        }
    }

    /// Keeps the files of a snapshot while a sandbox is filled from them, even if the snapshot is deleted meanwhile.
    public void use(String name, SandboxId by) {
        held.use(name, by);
    }

    /// The sandbox does not need the files any more.
    public void release(String name, SandboxId by) {
        held.unuse(name, by);
    }

    /// Whether files of this name have to stay, although it may be deleted.
    public boolean isKept(String name) {
        return held.isKept(name);
    }

    boolean isUsed(String name) {
        return held.isUsed(name);
    }

    /// Keeps the list of pages that the first restore from a snapshot touched.
    ///
    /// @param touched the list
    public void noteTouched(String name, Path touched) throws IOException {
        Path place = place(name);
        if (Files.exists(place.resolve(ABOUT)) && !Files.exists(Snapshot.touched(place))) {
            Files.copy(touched, Snapshot.touched(place));
        }
    }

    /// Keeps the files of all snapshots on the disk until the hold is closed, also of those that are deleted meanwhile.
    public SnapshotHold hold() {
        return new SnapshotHold(held, places);
    }

    /// Removes the files of a snapshot, however far it was made.
    void remove(String name) {
        Path place = place(name);
        pool.deleteSaved(Snapshot.disk(place));
        try {
            Trees.delete(place);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot delete snapshot " + name, e);
        }
    }
}
