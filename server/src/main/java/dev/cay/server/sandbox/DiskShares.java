package dev.cay.server.sandbox;

import dev.cay.server.fleet.Fleet;
import dev.cay.server.quota.Quotas;
import dev.cay.server.template.TemplateRecord;
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
import java.util.List;
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

/// Limits the disk space of teams: tells the node every few seconds which sandboxes and snapshots belong to which
/// limited team, and refuses operations that need more space than is left. The node stops sandboxes from writing more.
/// Thread-safe.
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
    private volatile Map<TeamId, Long> held = Map.of();

    /// Held by whoever takes disk for a team that cannot be counted before it is taken.
    private final Map<TeamId, Semaphore> taking = new ConcurrentHashMap<>();

    private boolean told;
    private final AtomicLong begun = new AtomicLong();

    /// Of those that began, as far as the share was divided since; guarded by this.
    private long divided;

    public DiskShares(Quotas quotas, SandboxDirectory directory, Templates templates, Fleet fleet, Volumes volumes) {
        this.quotas = quotas;
        this.directory = directory;
        this.templates = templates;
        this.fleet = fleet;
        this.volumes = volumes;
    }

    /// The sandboxes and snapshots of a team, while the list is collected.
    private record Owned(Set<SandboxId> sandboxes, Set<String> snapshots) {
        private static Owned nothing() {
            return new Owned(new HashSet<>(), new HashSet<>());
        }
    }

    /// Sends the current lists to the node and reads what each team holds.
    public synchronized void update() {
        var owned = owned();
        if (owned.isEmpty() && !told) {
            return;
        }
        var teams = new ArrayList<TeamId>();
        var shares = new ArrayList<DiskShare>();
        owned.forEach((team, things) -> {
            teams.add(team);
            long left = Math.max(0, limit(team) - ofVolumes(team));
            shares.add(new DiskShare(left, things.sandboxes(), things.snapshots()));
        });
        var bytes = fleet.node().shareDisk(shares);
        told = !shares.isEmpty();
        var now = new HashMap<TeamId, Long>();
        for (int i = 0; i < bytes.size(); i++) {
            now.put(teams.get(i), bytes.get(i));
        }
        held = now;
    }

    /// A sandbox of this team runs now: the team's share is divided again at once, as the sandbox could write more than
    /// what is left of the share until the next round. Of many that begin at the same time one does it for all.
    void began(TeamId team) {
        if (quotas.of(team).diskMB() == null) {
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

    /// Of teams with a limit.
    private Map<TeamId, Owned> owned() {
        var owned = new HashMap<TeamId, Owned>();
        for (var sandbox : directory.list()) {
            if (quotas.of(sandbox.teamId()).diskMB() != null) {
                owned.computeIfAbsent(sandbox.teamId(), _ -> Owned.nothing())
                        .sandboxes()
                        .add(sandbox.id());
            }
        }
        for (var template : templates.all()) {
            if (quotas.of(template.teamId()).diskMB() != null) {
                owned.computeIfAbsent(template.teamId(), _ -> Owned.nothing())
                        .snapshots()
                        .addAll(snapshots(template));
            }
        }
        return owned;
    }

    private static List<String> snapshots(TemplateRecord template) {
        return template.builds().stream()
                .flatMap(build -> Stream.ofNullable(build.snapshot()))
                .toList();
    }

    private long limit(TeamId team) {
        Integer megabytes = quotas.of(team).diskMB();
        return megabytes == null ? Long.MAX_VALUE : (long) megabytes << 20;
    }

    /// Volumes count with all that they may hold, so that they have it whenever they need it.
    private long ofVolumes(TeamId team) {
        return volumes.sizeMB(team) << 20;
    }

    /// Refuses a volume of this size if the team's share has no room for it.
    public void requireRoom(TeamId team, long megabytes) {
        if (quotas.of(team).diskMB() == null) {
            return;
        }
        long bytes = measured(team) + ofVolumes(team);
        if (limit(team) - bytes < megabytes << 20) {
            throw CayException.exhausted(
                    "a volume of %d MB does not fit into the team's share of the disk, of which %d MB of %d MB are taken; give a smaller 'sizeMB', delete volumes or snapshots, or let the operator raise the limit"
                            .formatted(megabytes, bytes >> 20, limit(team) >> 20),
                    SOON);
        }
    }

    /// Megabytes that a team holds, as of the last round; null where that is not counted.
    public @Nullable Long heldMB(TeamId team) {
        return quotas.of(team).diskMB() == null ? null : (held.getOrDefault(team, 0L) + ofVolumes(team)) >> 20;
    }

    /// Bytes of a team's sandboxes and snapshots; those of a team that no round has seen yet are read now.
    private long measured(TeamId team) {
        Long bytes = held.get(team);
        if (bytes == null && owned().containsKey(team)) {
            update();
            bytes = held.get(team);
        }
        return bytes == null ? 0 : bytes;
    }

    /// Runs what takes disk for a team, if its share is not full. What a snapshot takes is known when it is there: so
    /// of a team with a share one is made at a time, and the next one is refused if the share is full then.
    public <T> T take(TeamId team, Supplier<T> work) {
        if (quotas.of(team).diskMB() == null) {
            return work.get();
        }
        var place = taking.computeIfAbsent(team, _ -> new Semaphore(1));
        try {
            if (!place.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "other snapshots of this team are being taken, and it has a share of the disk; try again later");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for another snapshot", e);
        }
        try {
            update();
            requireRoom(team);
            return work.get();
        } finally {
            place.release();
        }
    }

    /// Refuses what takes more disk if the team's share is full.
    public void requireRoom(TeamId team) {
        if (quotas.of(team).diskMB() == null) {
            return;
        }
        long bytes = measured(team) + ofVolumes(team);
        if (limit(team) - bytes < Math.min(LEAST, limit(team) / 20)) {
            throw CayException.exhausted(
                    "the team's share of the disk is full: its sandboxes, snapshots and volumes take %d MB of %d MB; kill sandboxes, delete snapshots or volumes, or let the operator raise the limit"
                            .formatted(bytes >> 20, limit(team) >> 20),
                    SOON);
        }
    }
}
