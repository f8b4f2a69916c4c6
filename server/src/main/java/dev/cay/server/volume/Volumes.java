package dev.cay.server.volume;

import dev.cay.life.Steps;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.access.Teams;
import dev.cay.server.request.RequestBody;
import dev.cay.server.store.Store;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeVolumes;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// All volumes. Thread-safe.
///
/// A volume is on record before the node makes it, and until the node has deleted it; its state tells a later run what
/// is unfinished. The transaction that marks a volume as deleted checks that no sandbox or snapshot needs it, and the
/// transaction that creates a sandbox's record checks that its volumes are ready.
public final class Volumes {
    private static final Logger log = LoggerFactory.getLogger(Volumes.class);
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_-]{1,128}");
    private static final int MOST_OF_TEAM = 1000;
    private static final int MOST_NAMED = 10;

    private final Store store;
    private final NodeVolumes node;
    private final InstantSource clock;
    private final Map<VolumeId, Volume> volumes = new ConcurrentHashMap<>();

    /// Those that are being deleted at this moment.
    private final Set<VolumeId> underWay = ConcurrentHashMap.newKeySet();

    /// Those whose deletion has failed, so that the log has this once.
    private final Set<VolumeId> failed = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean finishing = new AtomicBoolean();
    private volatile Room room = (_, _) -> {};
    private volatile Consumer<VolumeId> onDeletion = _ -> {};

    /// Checks whether a team and its API key have disk space left.
    public interface Room {
        /// Refuses with EXHAUSTED if it is less than so many megabytes.
        void require(Caller caller, long megabytes);
    }

    public Volumes(Store store, NodeVolumes node, InstantSource clock) {
        this.store = store;
        this.node = node;
        this.clock = clock;
    }

    /// Sets the check of disk space. Call this before requests come.
    public void limit(Room known) {
        room = known;
    }

    /// Sets what is told of each volume that no client can see any more, before its files are deleted.
    void onDeletion(Consumer<VolumeId> listener) {
        onDeletion = listener;
    }

    /// Reads the records, and begins to complete unfinished work of an earlier run.
    public void start() {
        for (var volume : store.read(VolumeStore::all)) {
            boolean whole = volume.state() == Volume.State.READY;
            volumes.put(volume.id(), whole ? volume : volume.in(Volume.State.DELETING));
        }
        var there = node.list();
        ready().filter(volume -> !there.contains(volume.id()))
                .forEach(volume -> log.atError()
                        .addKeyValue("volume", volume.id())
                        .log("the files of a recorded volume are missing"));
        there.stream()
                .filter(id -> !volumes.containsKey(id))
                .forEach(id -> log.atWarn()
                        .addKeyValue("volume", id)
                        .log("this machine has a volume without a record; its files are kept"));
        finishDeletions();
    }

    private Stream<Volume> ready() {
        return volumes.values().stream().filter(volume -> volume.state() == Volume.State.READY);
    }

    /// Begins to remove volumes that no client knows, and those that are marked as deleted. It returns at once: where
    /// the disk deletes file by file, a volume can take minutes.
    public void finishDeletions() {
        boolean some = volumes.values().stream().anyMatch(volume -> volume.state() == Volume.State.DELETING);
        if (some && finishing.compareAndSet(false, true)) {
            Thread.ofVirtual().name("volume-deletions").start(this::finish);
        }
    }

    private void finish() {
        try {
            volumes.values().stream()
                    .filter(volume -> volume.state() == Volume.State.DELETING)
                    .forEach(this::remove);
        } finally {
            finishing.set(false);
        }
    }

    /// Removes a volume. Until that has succeeded, it counts for its team's share of the disk. After a failure
    /// {@link #finishDeletions} retries.
    private void remove(Volume volume) {
        if (!underWay.add(volume.id())) {
            return;
        }
        try {
            node.delete(volume.id());
            Steps.reach("volume-removed");
            store.write(handle -> VolumeStore.delete(handle, volume.id()));
            Steps.reach("volume-forgotten");
            volumes.remove(volume.id());
            if (failed.remove(volume.id())) {
                log.atInfo().addKeyValue("volume", volume.id()).log("a volume is deleted now");
            }
        } catch (RuntimeException e) {
            var level = failed.add(volume.id()) ? Level.WARN : Level.DEBUG;
            log.atLevel(level)
                    .setCause(e)
                    .addKeyValue("volume", volume.id())
                    .log("a volume could not be deleted yet; its deletion is tried again");
        } finally {
            underWay.remove(volume.id());
        }
    }

    List<Volume> list(Team team) {
        return ready().filter(volume -> volume.teamId().equals(team.id()))
                .sorted(Comparator.comparing(Volume::createdAt).thenComparing(Volume::name))
                .toList();
    }

    public int count(Team team) {
        return list(team).size();
    }

    /// Bytes that each holds.
    Map<VolumeId, Long> used() {
        return node.used();
    }

    Volume require(Team team, VolumeId id) {
        return find(id).filter(volume -> volume.teamId().equals(team.id())).orElseThrow(Volumes::notFound);
    }

    /// Finds a volume of any team.
    Optional<Volume> find(VolumeId id) {
        return Optional.ofNullable(volumes.get(id)).filter(volume -> volume.state() == Volume.State.READY);
    }

    static CayException notFound() {
        return new CayException(ErrorKind.NOT_FOUND, "Volume not found");
    }

    /// Megabytes that a team's volumes may hold together.
    public long sizeMB(TeamId team) {
        return sizeMB(volume -> volume.teamId().equals(team));
    }

    /// The same of volumes that keys of a family have made.
    public long sizeMB(String keyFamily) {
        return sizeMB(volume -> keyFamily.equals(volume.keyFamily()));
    }

    private long sizeMB(Predicate<Volume> which) {
        return volumes.values().stream().filter(which).mapToLong(Volume::sizeMB).sum();
    }

    /// Ids of all that clients can see, as a store has them.
    public static Set<VolumeId> onRecord(Handle handle) {
        return VolumeStore.all(handle).stream()
                .filter(volume -> volume.state() == Volume.State.READY)
                .map(Volume::id)
                .collect(Collectors.toSet());
    }

    Volume create(Caller caller, @Nullable String name, @Nullable Integer sizeMB) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "Invalid volume name: 'name' must be 1 to 128 letters, digits, '-' and '_'");
        }
        var volume = reserve(caller, name, size(sizeMB));
        try {
            store.write(handle -> {
                Teams.requireThere(handle, volume.teamId());
                VolumeStore.insert(handle, volume);
                return volume;
            });
            node.create(volume.id(), volume.sizeMB() << 20);
            var ready = volume.in(Volume.State.READY);
            set(ready, handle -> {});
            return ready;
        } catch (RuntimeException e) {
            volumes.put(volume.id(), volume.in(Volume.State.DELETING));
            remove(volume);
            throw e;
        }
    }

    private long size(@Nullable Integer wanted) {
        long most = node.mostBytes() >> 20;
        if (wanted == null) {
            return most;
        }
        if (wanted < 1 || wanted > most) {
            throw RequestBody.invalid(
                    "'sizeMB' must be from 1 to %d; the operator can raise storage.volumeSizeMB".formatted(most));
        }
        return wanted;
    }

    /// Records a new volume, whose name is then taken.
    private synchronized Volume reserve(Caller caller, String name, long sizeMB) {
        var team = caller.team();
        var own = volumes.values().stream()
                .filter(volume -> volume.teamId().equals(team.id()))
                .toList();
        if (own.stream().anyMatch(volume -> volume.name().equals(name) && volume.state() != Volume.State.DELETING)) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "Volume with name '%s' already exists".formatted(name));
        }
        if (own.size() >= MOST_OF_TEAM) {
            throw new CayException(
                    ErrorKind.EXHAUSTED, "the team has %d volumes, and can have no more".formatted(own.size()));
        }
        room.require(caller, sizeMB);
        var now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        var volume =
                new Volume(VolumeId.random(), team.id(), name, sizeMB, Volume.State.CREATING, now, caller.keyFamily());
        volumes.put(volume.id(), volume);
        return volume;
    }

    private void set(Volume volume, Consumer<Handle> along) {
        store.write(handle -> {
            along.accept(handle);
            VolumeStore.setState(handle, volume.id(), volume.state());
            return volume;
        });
        volumes.put(volume.id(), volume);
    }

    /// Refuses with CONFLICT if a sandbox or a snapshot needs it.
    void delete(Volume volume) {
        var marked = volume.in(Volume.State.DELETING);
        set(marked, handle -> {
            VolumeStore.lockTeam(handle, volume.teamId());
            var users = VolumeStore.users(handle, volume.teamId(), volume.id());
            if (!users.isEmpty()) {
                throw inUse(volume, users);
            }
        });
        onDeletion.accept(volume.id());
        Steps.reach("volume-marked");
        remove(marked);
    }

    private static CayException inUse(Volume volume, List<VolumeStore.User> users) {
        String who = users.stream().limit(MOST_NAMED).map(Volumes::describe).collect(Collectors.joining(", "));
        int more = users.size() - MOST_NAMED;
        return new CayException(
                ErrorKind.CONFLICT,
                "Volume '%s' is in use by %s%s; kill the sandboxes and delete the snapshots first"
                        .formatted(volume.name(), who, more > 0 ? " and %d more".formatted(more) : ""));
    }

    private static String describe(VolumeStore.User user) {
        return user.state() == null
                ? "snapshot " + (user.name() == null ? user.id() : user.name())
                : "sandbox %s (%s)".formatted(user.id(), user.state().toLowerCase(Locale.ROOT));
    }

    /// The team's volumes of these names.
    public List<WantedVolume> require(Team team, List<MountWish> wishes) {
        var byName = list(team).stream().collect(Collectors.toMap(Volume::name, Volume::id));
        return wishes.stream()
                .map(wish -> {
                    var id = byName.get(wish.name());
                    if (id == null) {
                        throw new CayException(
                                ErrorKind.INVALID_ARGUMENT, "Volume '%s' not found".formatted(wish.name()));
                    }
                    return new WantedVolume(id, wish.name(), wish.path(), wish.readOnly());
                })
                .toList();
    }

    /// Checks in the transaction that creates a sandbox's record that none of its volumes was deleted meanwhile.
    public static void requireReady(Handle handle, TeamId team, List<MountedVolume> mounted) {
        if (mounted.isEmpty()) {
            return;
        }
        VolumeStore.lockTeam(handle, team);
        for (var one : mounted) {
            if (!VolumeStore.isReady(handle, team, one.volume())) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "Volume '%s' not found".formatted(one.name()));
            }
        }
    }
}
