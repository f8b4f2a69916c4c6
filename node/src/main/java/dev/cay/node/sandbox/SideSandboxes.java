package dev.cay.node.sandbox;

import dev.cay.node.files.FileTree;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.host.Slot;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sandboxes that each serve another sandbox, and that only the node knows. Thread-safe.
///
/// They have keepers like all others, but in a map of their own: lists, lookups and measurements never include them.
/// They end with the daemon, because the connections to their processes end with it.
final class SideSandboxes implements SideSandboxHost, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SideSandboxes.class);
    private static final TemplateId TEMPLATE = new TemplateId("mcp-server");

    private static final int DISK_SIZE_MB = 2048;

    private static final int STARTS = 2 * Runtime.getRuntime().availableProcessors();
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /// Most concurrent saves and restores, because each needs its memory a second time for a moment.
    private static final int MOVES = 2;

    /// @param online whether its server needs the internet
    private record Side(SandboxKeeper keeper, SandboxId owner, boolean online, Consumer<String> lost) {}

    private final KeeperParts parts;
    private final HostParts host;
    private final ServerLimits servers;
    private final Function<SandboxId, @Nullable SandboxKeeper> owners;
    private final SecureRandom random;
    private final Map<SandboxId, Side> sides = new ConcurrentHashMap<>();
    private final Semaphore starts = new Semaphore(STARTS, true);
    private final Semaphore moves = new Semaphore(MOVES, true);

    /// Notified when one of them has ended.
    private final Object ends = new Object();

    private volatile boolean closed;

    /// @param owners finds the keeper of an owner
    SideSandboxes(
            KeeperParts parts,
            ServerLimits servers,
            Function<SandboxId, @Nullable SandboxKeeper> owners,
            SecureRandom random) {
        this.parts = parts;
        this.host = parts.host();
        this.servers = servers;
        this.owners = owners;
        this.random = random;
    }

    @Override
    public SideSandbox open(SandboxId owner, Wanted wanted, Consumer<String> lost) {
        requireWanted(owner);
        return inTurn(starts, () -> new Opened(this, start(owner, wanted, lost)));
    }

    private static <T> T inTurn(Semaphore turns, Supplier<T> work) {
        try {
            if (!turns.tryAcquire(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "too many servers are being started; try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the start of a server was interrupted", e);
        }
        try {
            return work.get();
        } finally {
            turns.release();
        }
    }

    /// The spec of a side sandbox. It contains none of its owner's variables or tokens, because notes of it are on the
    /// disk. A list of allowed hosts is not enforced yet: with one, everything is allowed that ordinary sandboxes
    /// reach.
    private SandboxSpec spec(SandboxId owner, List<String> layers, CatalogServer.Network network) {
        return new SandboxSpec(
                SandboxId.random(random),
                TEMPLATE,
                layers,
                resources(owner),
                Map.of(),
                null,
                "user",
                null,
                network.disabled() ? Egress.closed() : egress(owner),
                null);
    }

    /// Limits, not reservations: all of one owner share its processors and the memory that each may use.
    private Resources resources(SandboxId owner) {
        return new Resources(require(owner).resources().cpuCount(), servers.memoryMB(), DISK_SIZE_MB);
    }

    private SandboxKeeper start(SandboxId owner, Wanted wanted, Consumer<String> lost) {
        host.capacity().require();
        var volumes = new SideVolumes(host, require(owner), wanted);
        var mounts = volumes.mounts();
        var keeper = admit(owner, spec(owner, wanted.layers(), wanted.network()), wanted.network(), lost);
        keeper.start(mounts);
        try {
            requireWanted(owner);
            followOwner(keeper.id());
            volumes.copyFiles(keeper.requireOpen().files());
        } catch (CayException e) {
            end(keeper);
            throw e;
        }
        return keeper;
    }

    /// Starts one at a time, so that the limits of an owner hold.
    private synchronized SandboxKeeper admit(
            SandboxId owner, SandboxSpec spec, CatalogServer.Network network, Consumer<String> lost) {
        long others = count(owner);
        if (others >= servers.most()) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "sandbox %s has %d MCP servers, and may have no more at a time (mcp.maxServers); stop using some"
                            .formatted(owner, others));
        }
        Slot slot = host.plan().take();
        var notes = SandboxNotes.ofSide(spec, slot.index(), host.clock().instant(), owner);
        var keeper = new SandboxKeeper(parts, slot, notes, this::ended);
        sides.put(spec.id(), new Side(keeper, owner, !network.disabled(), lost));
        return keeper;
    }

    private long count(SandboxId owner) {
        return sides.values().stream().filter(side -> side.owner.equals(owner)).count();
    }

    @Override
    public void awaitEnd(SandboxId owner, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        synchronized (ends) {
            long before = count(owner);
            try {
                for (long left = limit.toNanos(); left > 0 && count(owner) >= before; left = end - System.nanoTime()) {
                    TimeUnit.NANOSECONDS.timedWait(ends, left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void requireWanted(SandboxId owner) {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        }
        require(owner);
    }

    private SandboxKeeper require(SandboxId owner) {
        var keeper = owners.apply(owner);
        if (keeper == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox %s on this node".formatted(owner));
        }
        return keeper;
    }

    /// A keeper for one that an earlier daemon left, only to end it.
    SandboxKeeper keep(Leftovers.Found found) {
        var notes = Objects.requireNonNull(found.notes());
        var keeper = new SandboxKeeper(parts, found.slot(), notes, this::ended);
        sides.put(found.id(), new Side(keeper, Objects.requireNonNull(notes.owner()), false, _ -> {}));
        return keeper;
    }

    boolean has(SandboxId id) {
        return sides.containsKey(id);
    }

    Stream<SandboxKeeper> keepers() {
        return sides.values().stream().map(Side::keeper);
    }

    Stream<Slot> slots() {
        return keepers().map(SandboxKeeper::slot).filter(Objects::nonNull);
    }

    @Override
    public Egress egress(SandboxId owner) {
        var keeper = owners.apply(owner);
        return keeper == null ? Egress.closed() : keeper.egress();
    }

    /// The owner's team, from a variable that the server sets over a client's value.
    @Override
    public Optional<String> team(SandboxId owner) {
        return Optional.ofNullable(owners.apply(owner)).flatMap(SandboxKeeper::team);
    }

    /// The sandbox that a side sandbox runs for; any other id as it is.
    SandboxId ownerOf(SandboxId id) {
        var side = sides.get(id);
        return side == null ? id : side.owner;
    }

    /// Applies a change of the owner's rules. Suspended side sandboxes get them when they resume.
    void setEgress(SandboxId owner, Egress egress) {
        sides.values().stream()
                .filter(side -> side.owner.equals(owner) && side.online && !side.keeper.isPaused())
                .forEach(side -> side.keeper.setEgress(egress));
    }

    /// Applies the owner's current rules to a side sandbox that was suspended during a change.
    private void followOwner(SandboxId id) {
        var side = sides.get(id);
        if (side != null) {
            var egress = side.online ? egress(side.owner) : Egress.closed();
            if (!egress.equals(side.keeper.egress())) {
                side.keeper.setEgress(egress);
            }
        }
    }

    private void sleep(SandboxKeeper keeper) {
        inTurn(moves, () -> {
            keeper.sleep();
            return true;
        });
    }

    private void wake(SandboxKeeper keeper) {
        inTurn(moves, () -> {
            keeper.wake();
            return true;
        });
        followOwner(keeper.id());
    }

    /// Ends side sandboxes whose end failed before, and those whose owner is gone. Called periodically.
    void lookAfter() {
        endAll(side -> side.keeper.isEnding() || owners.apply(side.owner) == null);
    }

    /// Ends them all. None is started any more.
    @Override
    public void close() {
        closed = true;
        endAll(_ -> true);
    }

    boolean isEmpty() {
        return sides.isEmpty();
    }

    private void endAll(Predicate<Side> which) {
        var ids = sides.values().stream()
                .filter(which)
                .map(side -> side.keeper.id())
                .toList();
        ForEachSandbox.each(ids, id -> {
            var side = sides.get(id);
            if (side != null) {
                end(side.keeper);
            }
        });
    }

    private static void end(SandboxKeeper keeper) {
        try {
            keeper.end();
        } catch (CayException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("sandbox", keeper.id())
                    .log("cannot end a side sandbox; the node tries again");
        }
    }

    private void ended(SandboxKeeper keeper, @Nullable String reason) {
        var side = sides.remove(keeper.id());
        synchronized (ends) {
            ends.notifyAll();
        }
        if (side != null) {
            side.lost.accept(reason == null ? "it was ended" : reason);
        }
    }

    /// One side sandbox, for its user.
    private record Opened(SideSandboxes all, SandboxKeeper keeper) implements SideSandbox {
        @Override
        public GuestLink link() {
            return keeper.requireOpen().link();
        }

        @Override
        public FileTree files() {
            return keeper.requireOpen().files();
        }

        @Override
        public SocketChannel dial(int port) throws IOException {
            return keeper.requireOpen().dial(port);
        }

        @Override
        public void sleep() {
            all.sleep(keeper);
        }

        @Override
        public void wake() {
            all.wake(keeper);
        }

        @Override
        public Path stop() {
            return keeper.stop();
        }

        /// Ends the side sandbox, also on an interrupted thread.
        @Override
        public void close() {
            boolean interrupted = Thread.interrupted();
            try {
                end(keeper);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
