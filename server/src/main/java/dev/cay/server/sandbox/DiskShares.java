package dev.cay.server.sandbox;

import dev.cay.server.access.Caller;
import dev.cay.server.fleet.Fleet;
import dev.cay.server.quota.Quotas;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.Volumes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.DiskShare;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Limits the disk space of teams and of API keys: tells the node every few seconds which sandboxes and snapshots
/// belong to which share, and refuses operations that need more space than is left. The node stops sandboxes from
/// writing more. Thread-safe.
public final class DiskShares {
    private static final Logger log = LoggerFactory.getLogger(DiskShares.class);
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// A sandbox that may write less than this is of no use.
    private static final long LEAST = 16L << 20;

    private final Quotas quotas;
    private final SandboxDirectory directory;
    private final Templates templates;
    private final Fleet fleet;
    private final Volumes volumes;

    /// Bytes of sandboxes and snapshots, as of the last round. Volumes are counted when they are asked for.
    private volatile Map<Owner, Long> held = Map.of();

    /// Held while disk is taken that cannot be counted before.
    private final Map<Owner, Semaphore> taking = new ConcurrentHashMap<>();

    private boolean told;
    private final AtomicLong begun = new AtomicLong();

    /// Of those that began, as far as the shares were divided since; guarded by this.
    private long divided;

    public DiskShares(Quotas quotas, SandboxDirectory directory, Templates templates, Fleet fleet, Volumes volumes) {
        this.quotas = quotas;
        this.directory = directory;
        this.templates = templates;
        this.fleet = fleet;
        this.volumes = volumes;
    }

    /// The owner of a share: a team, or a family of its keys.
    ///
    /// @param keyFamily null for the whole team
    private record Owner(TeamId team, @Nullable String keyFamily) {
        String text() {
            return keyFamily == null ? "the team" : "the API key";
        }

        String remedy() {
            return keyFamily == null ? "let the operator raise the limit" : "raise the limit of the key";
        }
    }

    /// The sandboxes and snapshots of an owner, while the list is collected.
    private record Owned(Set<SandboxId> sandboxes, Set<String> snapshots) {
        private static Owned nothing() {
            return new Owned(new HashSet<>(), new HashSet<>());
        }
    }

    /// Sends the current lists to the node and reads what each owner holds.
    public synchronized void update() {
        var owned = owned();
        if (owned.isEmpty() && !told) {
            return;
        }
        var owners = new ArrayList<Owner>();
        var shares = new ArrayList<DiskShare>();
        owned.forEach((owner, things) -> {
            owners.add(owner);
            long left = Math.max(0, limit(owner) - ofVolumes(owner));
            shares.add(new DiskShare(left, things.sandboxes(), things.snapshots()));
        });
        var bytes = fleet.node().shareDisk(shares);
        told = !shares.isEmpty();
        var now = new HashMap<Owner, Long>();
        for (int i = 0; i < bytes.size(); i++) {
            now.put(owners.get(i), bytes.get(i));
        }
        held = now;
    }

    /// A sandbox runs now: the shares that it counts for are divided again at once, as it could write more than what is
    /// left of them until the next round. Of many that begin at the same time one does it for all.
    void began(TeamId team, @Nullable String keyFamily) {
        if (limited(team, keyFamily).findAny().isEmpty()) {
            return;
        }
        long mine = begun.incrementAndGet();
        synchronized (this) {
            if (divided >= mine) {
                return;
            }
            divided = begun.get();
            try {
                update();
            } catch (RuntimeException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("team", team)
                        .log("the disk share of a team was not updated; the next round tries again");
            }
        }
    }

    /// Of owners with a limit.
    private Map<Owner, Owned> owned() {
        var owned = new HashMap<Owner, Owned>();
        for (var sandbox : directory.list()) {
            limited(sandbox.teamId(), sandbox.keyFamily())
                    .forEach(owner -> of(owner, owned).sandboxes().add(sandbox.id()));
        }
        for (var template : templates.all()) {
            for (var build : template.builds()) {
                String snapshot = build.snapshot();
                if (snapshot != null) {
                    limited(template.teamId(), build.keyFamily())
                            .forEach(owner -> of(owner, owned).snapshots().add(snapshot));
                }
            }
        }
        return owned;
    }

    private static Owned of(Owner owner, Map<Owner, Owned> owned) {
        return owned.computeIfAbsent(owner, _ -> Owned.nothing());
    }

    /// The team and the family of keys, as far as they have a limit.
    private Stream<Owner> limited(TeamId team, @Nullable String keyFamily) {
        var ofTeam = new Owner(team, null);
        var all = keyFamily == null ? Stream.of(ofTeam) : Stream.of(ofTeam, new Owner(team, keyFamily));
        return all.filter(owner -> limitMB(owner) != null);
    }

    private @Nullable Integer limitMB(Owner owner) {
        return (owner.keyFamily() == null ? quotas.of(owner.team()) : quotas.ofKeys(owner.keyFamily())).diskMB();
    }

    private long limit(Owner owner) {
        Integer megabytes = limitMB(owner);
        return megabytes == null ? Long.MAX_VALUE : (long) megabytes << 20;
    }

    /// Volumes count with all that they may hold, so that they have it whenever they need it.
    private long ofVolumes(Owner owner) {
        var keyFamily = owner.keyFamily();
        return (keyFamily == null ? volumes.sizeMB(owner.team()) : volumes.sizeMB(keyFamily)) << 20;
    }

    /// Megabytes that a team holds, as of the last round; null where that is not counted.
    public @Nullable Long heldMB(TeamId team) {
        return heldMB(new Owner(team, null));
    }

    /// The same for a family of keys.
    public @Nullable Long heldMB(TeamId team, String keyFamily) {
        return heldMB(new Owner(team, keyFamily));
    }

    private @Nullable Long heldMB(Owner owner) {
        return limitMB(owner) == null ? null : (held.getOrDefault(owner, 0L) + ofVolumes(owner)) >> 20;
    }

    /// Bytes of an owner's sandboxes and snapshots; those of an owner that no round has seen yet are read now.
    private long measured(Owner owner) {
        Long bytes = held.get(owner);
        if (bytes == null && owned().containsKey(owner)) {
            update();
            bytes = held.get(owner);
        }
        return bytes == null ? 0 : bytes;
    }

    /// Runs what takes disk for a caller, if the caller's shares are not full. What a snapshot takes is known
    /// when it is there: so of a team or key with a share one is made at a time, and the next one is refused if
    /// that filled it.
    public <T> T take(Caller caller, Supplier<T> work) {
        var team = caller.team().id();
        // The share of the team comes first, and is that of all its keys.
        var owner = limited(team, caller.keyFamily()).findFirst();
        if (owner.isEmpty()) {
            return work.get();
        }
        var place = taking.computeIfAbsent(owner.get(), _ -> new Semaphore(1));
        try {
            if (!place.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "other snapshots of %s are being taken, and it has a share of the disk; try again later"
                                .formatted(owner.get().text()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for another snapshot", e);
        }
        try {
            update();
            requireRoom(team, caller.keyFamily());
            return work.get();
        } finally {
            place.release();
        }
    }

    /// Refuses what takes more disk if the share of the team, or of the keys, is full.
    public void requireRoom(TeamId team, @Nullable String keyFamily) {
        limited(team, keyFamily).forEach(this::requireRoom);
    }

    private void requireRoom(Owner owner) {
        long bytes = measured(owner) + ofVolumes(owner);
        long limit = limit(owner);
        if (limit - bytes < Math.min(LEAST, limit / 20)) {
            throw CayException.exhausted(
                    "%s's share of the disk is full: its sandboxes, snapshots and volumes take %d MB of %d MB; kill sandboxes, delete snapshots or volumes, or %s"
                            .formatted(owner.text(), bytes >> 20, limit >> 20, owner.remedy()),
                    SOON);
        }
    }

    /// Refuses a volume of this size if a share of its maker's has no room for it.
    public void requireRoom(Caller maker, long megabytes) {
        limited(maker.team().id(), maker.keyFamily()).forEach(owner -> requireRoom(owner, megabytes));
    }

    private void requireRoom(Owner owner, long megabytes) {
        long bytes = measured(owner) + ofVolumes(owner);
        if (limit(owner) - bytes < megabytes << 20) {
            throw CayException.exhausted(
                    "a volume of %d MB does not fit into %s's share of the disk, of which %d MB of %d MB are taken; give a smaller 'sizeMB', delete volumes or snapshots, or %s"
                            .formatted(megabytes, owner.text(), bytes >> 20, limit(owner) >> 20, owner.remedy()),
                    SOON);
        }
    }
}
