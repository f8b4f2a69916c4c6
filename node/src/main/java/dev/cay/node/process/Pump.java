package dev.cay.node.process;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Moves one stream's output into its log, on the poller's thread, as fast as subscribers allow.
///
/// A pipe is spliced: the bytes are either in the pipe or in the log, never in a daemon that may be killed. `splice`
/// needs a pipe at one end, so a terminal that is shared with the sandbox is read and written instead, on another
/// thread.
final class Pump implements OutputDelivery.Source {
    private static final Logger log = LoggerFactory.getLogger(Pump.class);
    private static final int MOST = 64 << 10;
    /// Largest piece that is passed to subscribers directly; they read a longer one from the log, at their own speed.
    private static final int FRESH = 4 << 10;

    private static final Duration MOVE_LIMIT = Duration.ofSeconds(1);
    private static final int ROUNDS = 8;
    private static final int LAST_CALL = 1 << 20;

    /// The process of the output, and its subscribers.
    ///
    /// @param drained called when everything is delivered
    record Destination(int pid, OutputDelivery delivery, Consumer<Pump> drained) {}

    private final Destination to;
    private final Channel channel;
    private final Descriptor source;
    private final OutputLog output;
    private final Workers workers;
    /// The thread that reads a terminal that is shared with the sandbox; null for a pipe.
    private final @Nullable SharedTerminals terminals;

    private final FdPoller.Watch watch;
    /// Held from the moment that bytes leave the stream until they are in the log.
    private final ReentrantLock moving = new ReentrantLock();
    /// Set while a thread other than the poller's works; that thread continues with the stream afterwards.
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile boolean ended;
    private volatile boolean broken;
    private volatile boolean lastCall;
    private int lastBytes = LAST_CALL;

    Pump(
            Destination to,
            Channel channel,
            Descriptor source,
            OutputLog output,
            Workers workers,
            @Nullable SharedTerminals terminals) {
        this.to = to;
        this.channel = channel;
        this.source = source;
        this.output = output;
        this.workers = workers;
        this.terminals = terminals;
        this.watch = workers.poller().watch(source, FdPoller.IN, this::ready);
    }

    @Override
    public OutputLog output() {
        return output;
    }

    @Override
    public Channel channel() {
        return channel;
    }

    /// Starts, or continues after the process was made to wait.
    @Override
    public void resume() {
        try {
            watch.resume();
        } catch (ErrnoException e) {
            if (!source.closed()) {
                fail(e);
            }
        }
    }

    /// The process was killed: bytes that are in the pipe now are still delivered, a background child that holds it
    /// open is not waited for.
    void finishSoon() {
        workers.poller().after(Duration.ZERO, () -> {
            lastCall = true;
            watch.pause();
            ready();
        });
    }

    /// Closes the descriptor; the process runs on.
    ///
    /// Waits for bytes that are being moved, because the next writer of the log continues at the end of its file.
    void close() {
        watch.close();
        source.close();
        boolean arrived = awaitMove();
        output.close();
        if (arrived) {
            moving.unlock();
        }
    }

    /// A terminal that is shared with the sandbox can keep its reader for ever; nothing else takes time here.
    private boolean awaitMove() {
        try {
            return moving.tryLock(MOVE_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void ready() {
        if (ended || source.closed() || busy.get()) {
            return;
        }
        if (terminals != null) {
            readTerminalSoon(terminals);
            return;
        }
        try {
            for (int i = 0; i < ROUNDS; i++) {
                if (!spliceOnce()) {
                    return;
                }
            }
            proceed();
        } catch (IOException e) {
            fail(e);
        }
    }

    private void proceed() {
        if (lastCall) {
            workers.poller().after(Duration.ZERO, this::ready);
        } else {
            resume();
        }
    }

    /// Whether there may be more.
    private boolean spliceOnce() throws IOException {
        if (watch.hungUp() && DescriptorIo.available(source) == 0) {
            // The stream has ended. Checked without a file, because most commands write nothing to stderr.
            finish();
            return false;
        }
        int room = broken ? MOST : output.room();
        if (room == 0) {
            rotateSoon();
            return false;
        }
        int allowed = Math.min(Math.min(MOST, room), to.delivery().allowance(this));
        if (allowed <= 0) {
            watch.pause();
            to.delivery().makeWait(this);
            return false;
        }
        int moved;
        moving.lock();
        try {
            moved = broken ? discard(allowed) : output.take(source, allowed);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EAGAIN) {
                throw e;
            }
            return emptied();
        } finally {
            moving.unlock();
        }
        if (moved == 0) {
            finish();
            return false;
        }
        publish(moved);
        if (lastCall) {
            lastBytes -= moved;
            return lastBytes > 0 || emptied();
        }
        return moved == allowed || watch.hungUp() || emptied();
    }

    private boolean emptied() {
        if (lastCall) {
            finish();
        } else {
            resume();
        }
        return false;
    }

    private void rotateSoon() {
        if (!busy.compareAndSet(false, true)) {
            return;
        }
        watch.pause();
        workers.logs().run(() -> {
            try {
                output.rotate();
            } catch (IOException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("pid", to.pid())
                        .log("the output log of a process cannot be rotated");
                broken = true;
                to.delivery()
                        .cutAll(new CayException(ErrorKind.DISK_FULL, "the node has no space to keep output"), true);
            }
            busy.set(false);
            proceed();
            return true;
        });
    }

    /// The log's disk is full: the process must still not stand still.
    private int discard(int limit) throws IOException {
        return DescriptorIo.read(source, new byte[limit], 0, limit);
    }

    private void publish(int count) throws IOException {
        if (!broken) {
            boolean wanted = count <= FRESH && !to.delivery().isEmpty();
            to.delivery().arrived(channel, output, count, wanted ? output.peek(count) : null);
        }
    }

    private void readTerminalSoon(SharedTerminals turns) {
        if (busy.compareAndSet(false, true)) {
            watch.pause();
            turns.run(this::readTerminal);
        }
    }

    private void readTerminal() {
        byte[] bytes = new byte[channel.chunk()];
        try {
            if (output.room() < bytes.length) {
                output.rotate();
            }
            if (to.delivery().allowance(this) < bytes.length) {
                busy.set(false);
                to.delivery().makeWait(this);
                return;
            }
            int count = moveFromTerminal(bytes);
            if (count == 0) {
                finish();
                return;
            }
            to.delivery().arrived(channel, output, count, count <= FRESH ? Arrays.copyOf(bytes, count) : null);
            lastBytes -= lastCall ? count : 0;
            if (lastBytes <= 0) {
                finish();
                return;
            }
            busy.set(false);
            proceed();
        } catch (ErrnoException e) {
            busy.set(false);
            afterTerminalError(e);
        } catch (IOException e) {
            fail(e);
        }
    }

    private int moveFromTerminal(byte[] buffer) throws IOException {
        moving.lock();
        try {
            int count = DescriptorIo.read(source, buffer, 0, buffer.length);
            output.put(buffer, count);
            return count;
        } finally {
            moving.unlock();
        }
    }

    private void afterTerminalError(ErrnoException e) {
        switch (e.errno()) {
            case Errno.EAGAIN -> emptied();
            // No process has the other end open any more.
            case Errno.EIO -> finish();
            default -> fail(e);
        }
    }

    private void fail(IOException e) {
        if (!source.closed()) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("pid", to.pid())
                    .log("the output of a process cannot be read any more");
        }
        finish();
    }

    private void finish() {
        if (ended) {
            return;
        }
        ended = true;
        close();
        to.drained().accept(this);
    }
}
