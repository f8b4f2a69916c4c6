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

/// The node's open connections to a running sandbox. The keeper opens and closes them, while requests pass.
final class Doors implements OpenSandbox.Owner {
    /// How long requests wait for a sandbox that is being saved, or that a daemon that just started has to open.
    private static final Duration MOMENT = Duration.ofMinutes(5);

    private final KeeperParts parts;
    private final HostFootprint footprint;
    private final Runnable lost;
    private volatile @Nullable OpenSandbox open;
    private volatile boolean gaveUp;

    /// Set while the sandbox is closed and about to be opened again.
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

    /// Like {@link #close}, for a sandbox that is saved with its memory.
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

    /// Like {@link #close}, for a sandbox that is opened again soon: requests wait for that, and so do clients that
    /// follow a process.
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

    /// Ends the wait for the guest, because the sandbox or the daemon ends.
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

    /// Refuses new requests at once, from any thread, so that clients that are disconnected find the sandbox gone when
    /// they check.
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
