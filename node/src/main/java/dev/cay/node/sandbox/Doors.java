package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.node.runtime.Container;
import dev.cay.wire.CayException;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What the node has open of a sandbox, if it runs. Opened and closed by its keeper; traffic passes meanwhile.
final class Doors implements OpenSandbox.Owner {
    /// How long requests wait for a sandbox that is being saved, or was found by a daemon that just started.
    private static final Duration MOMENT = Duration.ofMinutes(5);

    private final KeeperParts parts;
    private final HostFootprint footprint;
    private final Runnable lost;
    private volatile @Nullable OpenSandbox open;
    private volatile boolean gaveUp;

    /// While the sandbox is away and about to come back.
    private volatile @Nullable CountDownLatch away;

    /// @param lost runs when the guest went away by itself; must not block
    Doors(KeeperParts parts, HostFootprint footprint, Runnable lost) {
        this.parts = parts;
        this.footprint = footprint;
        this.lost = lost;
    }

    void open(Container container) throws IOException {
        var notes = footprint.notes();
        open = parts.open(notes, footprint.requireSlot(), container, this);
        back();
    }

    void close() {
        close(OpenSandbox::close);
    }

    /// Like {@link #close} for a sandbox that is saved with all that runs.
    void closeToSleep() {
        close(OpenSandbox::closeToSleep);
    }

    private void close(Consumer<OpenSandbox> how) {
        var now = open;
        open = null;
        back();
        if (now != null) {
            how.accept(now);
        }
    }

    /// Like {@link #close} for a sandbox that comes back in a moment: requests wait for it, and so do clients
    /// who follow a process.
    void leaveForAMoment() {
        var now = open;
        away = new CountDownLatch(1);
        open = null;
        if (now != null) {
            now.closeForAMoment();
        }
    }

    /// Requests wait until the sandbox is opened for the first time, or closed.
    void expect() {
        away = new CountDownLatch(1);
    }

    private void back() {
        var latch = away;
        away = null;
        if (latch != null) {
            latch.countDown();
        }
    }

    @Override
    public void lost() {
        lost.run();
    }

    /// Whoever opens the sandbox need not wait for its guest any more, as the sandbox ends or the daemon does.
    void giveUp() {
        gaveUp = true;
    }

    @Override
    public boolean gaveUp() {
        return gaveUp;
    }

    @Override
    public OpenSandbox awaitNext() throws InterruptedException {
        var latch = away;
        var now = latch == null || latch.await(MOMENT.toNanos(), TimeUnit.NANOSECONDS) ? open : null;
        if (now == null) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
        return now;
    }

    /// At once and from any thread, so that clients who are cut find the sandbox gone when they look.
    void refuse() {
        var now = open;
        if (now != null) {
            now.refuse();
        }
    }

    Optional<OpenSandbox> now() {
        return Optional.ofNullable(open);
    }

    void serve(int port, Exchange exchange) throws Exception {
        SandboxId id = footprint.notes().spec().id();
        while (true) {
            var latch = away;
            if (latch != null && !latch.await(MOMENT.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "sandbox %s does not come back".formatted(id));
            }
            var now = open;
            if (now == null || footprint.notes().spare()) {
                break;
            }
            if (now.serve(port, exchange)) {
                return;
            }
            if (!now.comesBack()) {
                break;
            }
        }
        PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound(id.value()));
    }
}
