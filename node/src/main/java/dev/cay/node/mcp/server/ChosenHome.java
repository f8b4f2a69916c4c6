package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A server that may be started in several ways. The first connection takes the first way for which all can be had
/// that it needs, and the others follow. Thread-safe.
///
/// A server that starts in its way and then fails keeps this way: no other program takes its place unnoticed. Another
/// way is taken only when what the first needs cannot be had any more. A server that runs elsewhere must be reached
/// before its way is taken, unless that is the only one.
public final class ChosenHome implements ServerHome {
    /// How long a connection waits while another one tries ways: as long as two packages or images may take.
    private static final Duration LIMIT = Duration.ofMinutes(25);

    private static final int LONGEST_REASON = 300;

    /// The state of one of the ways.
    ///
    /// @param reason why it was not taken, in one line; empty if it was taken, or was not tried
    public record Standing(LaunchPlan plan, boolean taken, String reason) {}

    /// One of the ways, with the server's home while the way is taken or tried.
    private static final class Way {
        private final LaunchPlan plan;
        private final BackOff backOff;
        private volatile @Nullable ServerHome home;
        private volatile @Nullable CayException refusal;

        Way(LaunchPlan plan, BackOff backOff) {
            this.plan = plan;
            this.backOff = backOff;
        }

        String reason() {
            var why = refusal;
            return why == null ? "" : oneLine(why.userMessage());
        }

        boolean lacksRoom() {
            var why = refusal;
            return why != null && why.kind() == ErrorKind.EXHAUSTED;
        }

        private static String oneLine(String text) {
            String line = text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
            return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + " …";
        }
    }

    private final String name;
    private final List<Way> ways;
    private final Function<LaunchPlan, ServerHome> homes;
    private final ReentrantLock choosing = new ReentrantLock(true);
    private volatile @Nullable Way taken;
    private volatile boolean closed;
    private volatile Runnable whenPreparing = () -> {};

    /// @param homes makes a home for the server in one of its ways
    /// @param nanos the time, as {@link System#nanoTime} tells it
    public ChosenHome(ServerPlan plan, Function<LaunchPlan, ServerHome> homes, LongSupplier nanos) {
        this.name = plan.name();
        this.ways = plan.ways().stream()
                .map(way -> new Way(way, new BackOff(nanos)))
                .toList();
        this.homes = homes;
    }

    @Override
    public ServerLink connect(ServerLink.Listener listener) {
        return open(take()).connect(listener);
    }

    @Override
    public void prepare() {
        take();
    }

    private Way take() {
        var now = taken;
        if (now != null && canBeTaken(now, ServerHome::prepare)) {
            return now;
        }
        lock();
        try {
            now = taken;
            return now != null && canBeTaken(now, ServerHome::prepare) ? now : choose();
        } finally {
            choosing.unlock();
        }
    }

    private void lock() {
        try {
            if (!choosing.tryLock(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new CayException(
                        ErrorKind.DEADLINE_EXCEEDED, "server %s takes too long to start".formatted(name));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the start of server %s was interrupted".formatted(name), e);
        }
    }

    private Way choose() {
        taken = null;
        for (var way : ways) {
            if (canBeTaken(way, ways.size() == 1 ? ServerHome::prepare : ChosenHome::prepareAndReach)) {
                taken = way;
                return way;
            }
        }
        throw noWay();
    }

    /// Checks that a way works, if there are several. An only way fails when it is used, with its own reason.
    private static void prepareAndReach(ServerHome home) {
        home.prepare();
        home.reach();
    }

    /// Fetches what the way needs, unless that failed recently.
    private boolean canBeTaken(Way way, Consumer<ServerHome> test) {
        try {
            way.backOff.require();
        } catch (CayException e) {
            way.refusal = e;
            return false;
        }
        try {
            test.accept(open(way));
            way.refusal = null;
            way.backOff.succeeded();
            return true;
        } catch (CayException e) {
            requireOpen();
            if (e.kind() == ErrorKind.CANCELED) {
                throw e;
            }
            refuse(way, e);
            return false;
        }
    }

    /// Closes the home of a failed way. A way that the sandbox's network forbids costs nothing to try and can be
    /// allowed at any time, so it is tried at each request.
    private void refuse(Way way, CayException why) {
        leave(way, ServerHome::cut);
        way.refusal = why;
        if (why.kind() != ErrorKind.PERMISSION_DENIED) {
            way.backOff.failed(Duration.ZERO, why.userMessage());
        }
    }

    private CayException noWay() {
        if (ways.size() == 1) {
            var why = ways.getFirst().refusal;
            return why == null
                    ? new CayException(ErrorKind.UNAVAILABLE, "server %s cannot be started".formatted(name))
                    : new CayException(why.kind(), why.userMessage(), why);
        }
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "server %s can be started in none of its ways: %s"
                        .formatted(
                                name,
                                ways.stream()
                                        .map(way -> way.plan.way() + ": " + way.reason())
                                        .collect(Collectors.joining("; "))));
    }

    private synchronized ServerHome open(Way way) {
        requireOpen();
        var now = way.home;
        if (now == null) {
            now = homes.apply(way.plan);
            now.whenPreparing(() -> whenPreparing.run());
            way.home = now;
        }
        return now;
    }

    private void leave(Way way, Consumer<ServerHome> end) {
        ServerHome left;
        synchronized (this) {
            left = way.home;
            way.home = null;
        }
        if (left != null) {
            end.accept(left);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "server %s is being stopped".formatted(name));
        }
    }

    /// The state of each way, in the order in which they are tried.
    public List<Standing> ways() {
        var now = taken;
        return ways.stream()
                .map(way -> new Standing(way.plan, way == now, way == now ? "" : way.reason()))
                .toList();
    }

    /// Whether it is called elsewhere, or about to be.
    public boolean isRemote() {
        return ways.stream().anyMatch(way -> way.home != null && way.plan.start() instanceof LaunchPlan.Remote);
    }

    /// If no way is in use because one could not be prepared for lack of room, waits for the room of that way.
    @Override
    public void awaitRoom(Duration limit) {
        var way = taken;
        if (way == null) {
            way = ways.stream().filter(Way::lacksRoom).findFirst().orElse(ways.getFirst());
        }
        open(way).awaitRoom(limit);
    }

    private @Nullable ServerHome now() {
        var way = taken;
        return way == null ? null : way.home;
    }

    @Override
    public boolean isPreparing() {
        return ways.stream().anyMatch(way -> {
            var home = way.home;
            return home != null && home.isPreparing();
        });
    }

    @Override
    public void whenPreparing(Runnable listener) {
        whenPreparing = listener;
    }

    @Override
    public String progress() {
        return ways.stream()
                .flatMap(way -> Optional.ofNullable(way.home).map(ServerHome::progress).stream())
                .filter(said -> !said.isEmpty())
                .findFirst()
                .orElse("");
    }

    @Override
    public String warning() {
        var home = now();
        return home == null ? "" : home.warning();
    }

    /// Suspends the server. While a way is still being chosen there is nothing to suspend.
    @Override
    public boolean sleep() {
        var home = now();
        return home != null && home.sleep();
    }

    @Override
    public void wake() {
        var home = now();
        if (home != null) {
            home.wake();
        }
    }

    @Override
    public void cut() {
        end(ServerHome::cut);
    }

    @Override
    public void close() {
        end(ServerHome::close);
    }

    private void end(Consumer<ServerHome> how) {
        synchronized (this) {
            closed = true;
        }
        ways.forEach(way -> leave(way, how));
    }
}
