package dev.cay.node.mcp.server;

import dev.cay.node.lines.LongLines;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A server in a sandbox of its own, in which each connection is a process.
final class SandboxedHome implements ServerHome {
    private static final Logger log = LoggerFactory.getLogger(SandboxedHome.class);
    private static final int MOST_CONNECTIONS = 48;

    /// The first may have to fetch a package.
    private static final Duration START_LIMIT = Duration.ofMinutes(12);

    /// Time for messages in transit before a server is suspended.
    private static final Duration MOMENT = Duration.ofSeconds(2);

    /// Failures that are not the server's.
    private static final Set<ErrorKind> NOT_ITS_FAULT =
            Set.of(ErrorKind.UNAVAILABLE, ErrorKind.EXHAUSTED, ErrorKind.CANCELED, ErrorKind.NOT_FOUND);

    private final HomeEquipment equipment;
    private final Consumer<SandboxedHome> whenClosed;
    private final SandboxId owner;
    private final LaunchPlan plan;
    private final BackOff backOff;
    private final Secrets secrets;
    private final LongLines lines = new LongLines();
    private final Absence absence;
    private final Semaphore places = new Semaphore(MOST_CONNECTIONS);
    private final ServerProcesses processes = new ServerProcesses();

    /// Held while the side sandbox is started, used or ended.
    private final ReentrantLock lock = new ReentrantLock(true);

    private volatile @Nullable ServerStay stay;
    private volatile boolean closed;
    private volatile String warning = "";
    private volatile Runnable whenPreparing = () -> {};
    private final IdleTimer idleness;

    /// Hears of the connections of one stay.
    ///
    /// @param stay may be over, and another one begun
    private record Keeper(SandboxedHome home, ServerStay stay) implements ServerProcess.Keeper {
        @Override
        public @Nullable String lost() {
            return stay.lost();
        }

        @Override
        public void over(ServerProcess process, Duration lived, @Nullable String reason) {
            home.processes.remove(process);
            if (reason == null) {
                home.backOff.lived(lived);
            } else {
                home.backOff.failed(lived, reason);
            }
            home.expectIdleness();
        }

        @Override
        public void gone() {
            home.places.release();
        }
    }

    SandboxedHome(HomeEquipment equipment, SandboxId owner, LaunchPlan plan, Consumer<SandboxedHome> whenClosed) {
        this.equipment = equipment;
        this.whenClosed = whenClosed;
        this.owner = owner;
        this.plan = plan;
        this.backOff = new BackOff(equipment.nanos());
        this.secrets = new Secrets(plan);
        this.absence = new Absence(plan.name());
        this.idleness = new IdleTimer(equipment.workers().poller(), equipment.idle(), this::rest);
    }

    @Override
    public void prepare() {
        if (stay == null) {
            whenPreparing.run();
            warning = equipment.preparation().prepare(owner, plan).warning();
        }
    }

    @Override
    public ServerLink connect(ServerLink.Listener listener) {
        absence.awaitEnd();
        requireOpen();
        backOff.require();
        if (!places.tryAcquire()) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "server %s has %d connections, and there may be no more; close some"
                            .formatted(plan.name(), MOST_CONNECTIONS));
        }
        boolean connected = false;
        try {
            var link = connectInside(listener);
            connected = true;
            return link;
        } catch (CayException e) {
            if (!NOT_ITS_FAULT.contains(e.kind())) {
                backOff.failed(Duration.ZERO, String.valueOf(e.getMessage()));
            }
            throw e;
        } finally {
            if (!connected) {
                places.release();
                expectIdleness();
            }
        }
    }

    /// Where this server has room, all servers of the sandbox together have none, and one of them may end at any time.
    /// It may also have ended since the connection was refused, so that is not awaited for long.
    @Override
    public void awaitRoom(Duration limit) {
        if (places.availablePermits() > 0) {
            equipment.sides().awaitEnd(owner, limit.compareTo(MOMENT) < 0 ? limit : MOMENT);
            return;
        }
        try {
            if (places.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                places.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "server %s is being stopped".formatted(plan.name()));
        }
        if (absence.isOn()) {
            throw absence.stillAway();
        }
    }

    private ServerLink connectInside(ServerLink.Listener listener) {
        if (!tryLock(START_LIMIT)) {
            throw new CayException(
                    ErrorKind.DEADLINE_EXCEEDED, "server %s takes too long to start".formatted(plan.name()));
        }
        try {
            requireOpen();
            backOff.require();
            idleness.forget();
            var now = enter();
            return now.connect(listener, new Keeper(this, now), processes::add, this::leftPort);
        } finally {
            lock.unlock();
            if (closed) {
                endStay();
            }
        }
    }

    private boolean tryLock(Duration limit) {
        try {
            return lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(
                    ErrorKind.CANCELED, "the start of server %s was interrupted".formatted(plan.name()), e);
        }
    }

    private ServerStay enter() {
        var now = stay;
        if (now != null) {
            return now;
        }
        var prepared = prepared();
        requireOpen();
        var fresh = new ServerStay(equipment, plan, secrets, lines, this::lost);
        fresh.begin(owner, prepared);
        stay = fresh;
        String lost = fresh.lost();
        if (lost != null) {
            stay = null;
            throw new CayException(ErrorKind.FAILED, "server %s cannot be started: %s".formatted(plan.name(), lost));
        }
        return fresh;
    }

    /// Must not block. The processes of a suspended server do not notice the loss by themselves. If a thread is just
    /// suspending or resuming the server, that thread notices it.
    private void lost(ServerStay gone) {
        if (stay == gone) {
            stay = null;
        }
        if (absence.isOn() && !lock.isLocked()) {
            Thread.ofVirtual().name("server-lost").start(() -> processes.giveUp(""));
        }
    }

    /// What cannot be fetched now is not asked for again at once.
    private ServerPreparation.Prepared prepared() {
        try {
            whenPreparing.run();
            var prepared = equipment.preparation().prepare(owner, plan);
            warning = prepared.warning();
            return prepared;
        } catch (CayException e) {
            if (NOT_ITS_FAULT.contains(e.kind()) && e.kind() != ErrorKind.CANCELED) {
                backOff.failed(Duration.ZERO, String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    @Override
    public boolean isPreparing() {
        return equipment.preparation().isPreparing(plan);
    }

    @Override
    public void whenPreparing(Runnable listener) {
        whenPreparing = listener;
    }

    @Override
    public String progress() {
        return equipment.preparation().progress(plan);
    }

    @Override
    public String warning() {
        return warning;
    }

    /// A connection to a port is over.
    private void leftPort() {
        places.release();
        expectIdleness();
    }

    private boolean isIdle() {
        var now = stay;
        return processes.isEmpty() && (now == null || now.isIdle());
    }

    /// Ends the side sandbox if no connection is made for a while.
    private void expectIdleness() {
        idleness.begin(() -> stay != null && !closed && isIdle());
    }

    /// Ends an idle side sandbox. If another thread holds the lock it is in use, and that thread restarts the timer.
    private void rest() {
        if (lock.tryLock()) {
            try {
                if (isIdle()) {
                    leave();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /// Suspends the server. A connection that is just being made may take minutes, so it is cancelled. A server
    /// with volumes starts again instead: its volumes are saved with the owner, at another moment than its memory
    /// would be.
    @Override
    public boolean sleep() {
        if (!plan.volumes().isEmpty() || !tryLock(MOMENT)) {
            return false;
        }
        try {
            var side = side();
            if (closed || side == null || processes.isEmpty()) {
                return false;
            }
            absence.begin();
            idleness.forget();
            processes.sleep(MOMENT);
            side.sleep();
        } catch (IOException | RuntimeException e) {
            fail("put away", e);
        } finally {
            lock.unlock();
            if (closed) {
                endStay();
            }
        }
        return true;
    }

    @Override
    public void wake() {
        if (!absence.isOn()) {
            return;
        }
        lock.lock();
        try {
            var side = side();
            if (closed || side == null || processes.isEmpty()) {
                leave();
            } else {
                side.wake();
                processes.wake(side.link());
            }
        } catch (IOException | RuntimeException e) {
            fail("brought back", e);
        } finally {
            absence.end();
            lock.unlock();
            if (closed) {
                endStay();
            }
            expectIdleness();
        }
    }

    private @Nullable SideSandbox side() {
        var now = stay;
        return now == null ? null : now.side();
    }

    /// Handles a failed suspend or resume: the server starts again at the next request.
    private void fail(String what, Exception e) {
        log.atWarn()
                .setCause(e)
                .addKeyValue("sandbox", owner)
                .addKeyValue("server", plan.key())
                .addKeyValue("not", what)
                .log("an MCP server could not be paused with its sandbox; it starts again");
        processes.giveUp("it could not be %s with its sandbox".formatted(what));
        leave();
    }

    @Override
    public void close() {
        closed = true;
        absence.end();
        idleness.forget();
        whenClosed.accept(this);
        equipment.preparation().cancel(plan);
        endStay();
    }

    /// Ends the side sandbox now, or leaves that to the thread that holds the lock.
    private void endStay() {
        if (lock.tryLock()) {
            try {
                leave();
            } finally {
                lock.unlock();
            }
        }
    }

    private void leave() {
        var now = stay;
        stay = null;
        processes.abandon();
        if (now != null) {
            now.end();
        }
    }
}
