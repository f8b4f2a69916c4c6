package dev.cay.node.interpreter;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestException;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.Spawn;
import dev.cay.node.guest.Streams;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// A runner's process and the pipes to it: lines go in, events come out. Reads always, so that nothing in the sandbox
/// stands still for want of a listener; while there is one, at its speed.
///
/// To close it gives the pipes back and leaves the process as it is; the guest keeps its own ends.
final class Runner implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Runner.class);

    private static final int CHUNK = 64 << 10;
    private static final int COMPLAINT = 4 << 10;
    private static final int SIGINT = 2;
    private static final int SIGKILL = 9;

    /// Root inside can make a call on a borrowed pipe hang.
    private static final Duration STUCK = Duration.ofSeconds(5);

    private static final Duration SEND_LIMIT = Duration.ofSeconds(60);

    /// How often a thread that waits for a slow listener looks whether others wait for it.
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final GuestLink link;
    private final Workers workers;
    private final LongLines room;
    private final Streams streams;
    private final Descriptor in;
    private final Descriptor out;
    private final Descriptor err;
    private final FdPoller.Watch outWatch;
    private final FdPoller.Watch errWatch;
    private final Semaphore signs = new Semaphore(0);
    private final Mailbox mailbox = new Mailbox();
    private final StringBuilder complaint = new StringBuilder();
    private volatile boolean outReady;
    private volatile boolean errReady;
    private volatile boolean exited;
    private volatile boolean closed;
    private volatile Runnable tooSlow = () -> {};
    private final AtomicBoolean killed = new AtomicBoolean();
    private @Nullable Thread reader;

    /// How a runner is told of its end before it exists.
    private static final class End {
        private @Nullable Runner runner;
        private boolean came;

        synchronized void exited() {
            came = true;
            if (runner != null) {
                runner.exited();
            }
        }

        synchronized void belongsTo(Runner one) {
            runner = one;
            if (came) {
                one.exited();
            }
        }
    }

    private Runner(GuestLink link, Workers workers, LongLines room, Streams streams) throws ProtocolException {
        this.link = link;
        this.workers = workers;
        this.room = room;
        this.streams = streams;
        if (streams.stdin() == null || streams.stdout() == null || streams.stderr() == null) {
            streams.close();
            throw new ProtocolException("a runner without its pipes");
        }
        this.in = streams.stdin();
        this.out = streams.stdout();
        this.err = streams.stderr();
        this.outWatch = workers.poller().watch(out, FdPoller.IN, this::outReady);
        this.errWatch = workers.poller().watch(err, FdPoller.IN, this::errReady);
    }

    static Runner start(GuestLink link, Workers workers, LongLines room, Spawn spawn) throws IOException {
        var end = new End();
        return begin(new Runner(link, workers, room, link.spawn(spawn, _ -> end.exited())), end);
    }

    /// Whom an exit is for that may come before {@link #attach}.
    static final class Claim {
        private final int pid;
        private final End end = new End();

        Claim(GuestLink link, int pid) {
            this.pid = pid;
            link.claim(pid, (Exit _) -> end.exited());
        }

        int pid() {
            return pid;
        }
    }

    /// One that runs already. What it was told last may have been cut off in the middle of a line.
    static Runner attach(GuestLink link, Workers workers, LongLines room, Claim claim) throws IOException {
        return begin(new Runner(link, workers, room, link.attach(claim.pid)), claim.end);
    }

    private static Runner begin(Runner runner, End end) throws ErrnoException {
        end.belongsTo(runner);
        runner.reader = Thread.ofVirtual().name("runner-" + runner.pid()).start(runner::read);
        runner.outWatch.resume();
        runner.errWatch.resume();
        return runner;
    }

    int pid() {
        return streams.pid();
    }

    boolean isOver() {
        return mailbox.isOver();
    }

    /// The last it said on its stderr.
    String complaint() {
        synchronized (complaint) {
            return complaint.toString().strip();
        }
    }

    /// Events wait to be taken from now on.
    ///
    /// @param slow runs when others have to wait for what this listener does not take; must not block
    void listen(Runnable slow) {
        tooSlow = slow;
        mailbox.listen(true);
    }

    void ignore() {
        mailbox.listen(false);
    }

    /// The listener's current or next {@link #next} returns at once.
    void wakeListener() {
        mailbox.wake();
    }

    @Nullable
    RunnerEvent next(Duration limit) throws InterruptedException {
        return mailbox.take(limit);
    }

    /// By one thread at a time.
    void send(byte[] line) throws IOException {
        long deadline = System.nanoTime() + SEND_LIMIT.toNanos();
        for (int sent = 0; sent < line.length; ) {
            int from = sent;
            int length = Math.min(CHUNK, line.length - from);
            try {
                sent += workers.guests().call(STUCK, () -> DescriptorIo.write(in, line, from, length));
            } catch (ErrnoException e) {
                var left = Duration.ofNanos(deadline - System.nanoTime());
                if (e.errno() != Errno.EAGAIN
                        || left.isNegative()
                        || !workers.poller().awaitWritable(in, left)) {
                    throw e;
                }
            }
        }
    }

    void interrupt() {
        signal(SIGINT);
    }

    /// Ends it and what it started, and lets the guest forget it.
    void kill() {
        if (!killed.compareAndSet(false, true)) {
            // Its number may be somebody else's by now.
            return;
        }
        signal(SIGKILL);
        close();
        try {
            link.forget(pid());
        } catch (IOException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid()).log("a runner was forgotten already");
        }
    }

    private void signal(int signal) {
        try {
            link.signalGroup(pid(), signal);
        } catch (GuestException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid()).log("a runner was gone before its signal");
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("pid", pid()).log("a runner could not be sent a signal");
        }
    }

    private void outReady() {
        outWatch.pause();
        outReady = true;
        signs.release();
    }

    private void errReady() {
        errWatch.pause();
        errReady = true;
        signs.release();
    }

    private void exited() {
        exited = true;
        signs.release();
    }

    private void read() {
        String reason = "";
        try (var lines = new LineBuffer(room)) {
            while (!closed) {
                await(lines);
                if (errReady) {
                    readComplaint();
                }
                boolean goesOn = !(outReady || exited) || readSome(lines);
                if (!goesOn) {
                    break;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            reason = String.valueOf(e.getMessage());
            log.atLevel(closed ? Level.DEBUG : Level.INFO)
                    .addKeyValue("pid", pid())
                    .addKeyValue("reason", reason)
                    .log("a runner is given up");
        }
        if (!closed) {
            mailbox.end(new RunnerEvent.Over(reason.isEmpty() ? complaint() : reason));
        }
    }

    /// Returns when there is something to do; a line that was begun must go on.
    private void await(LineBuffer lines) throws InterruptedException, ProtocolException {
        var patience = lines.patience();
        if (patience == null) {
            signs.acquire();
        } else if (!signs.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ProtocolException("a runner stopped in the middle of a long line");
        }
    }

    /// @return false at the end
    private boolean readSome(LineBuffer lines) throws IOException, InterruptedException {
        byte[] chunk = new byte[CHUNK];
        while (!closed) {
            int count;
            try {
                count = workers.guests().call(STUCK, () -> read(out, chunk));
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
                // Children may keep the pipe open for ever; they are no runners.
                outReady = false;
                outWatch.resume();
                return !exited;
            }
            if (count == 0) {
                return false;
            }
            lines.add(chunk, count, line -> deliver(line, lines));
        }
        return false;
    }

    /// Nobody may wait for it any more when it comes to it.
    private int read(Descriptor from, byte[] chunk) throws IOException {
        return closed ? 0 : DescriptorIo.read(from, chunk, 0, chunk.length);
    }

    private void deliver(byte[] line, LineBuffer lines) throws ProtocolException, InterruptedException {
        var event = Dialect.read(line);
        if (event.isEmpty()) {
            return;
        }
        while (!mailbox.put(event.get(), LOOK)) {
            hurry(lines);
        }
        // A long one needs its room until it was sent.
        while (lines.isLong() && !mailbox.awaitDone(LOOK)) {
            hurry(lines);
        }
    }

    private void hurry(LineBuffer lines) {
        if (lines.isOverdue()) {
            tooSlow.run();
        }
    }

    private void readComplaint() throws IOException {
        byte[] chunk = new byte[COMPLAINT];
        try {
            int count = workers.guests().call(STUCK, () -> read(err, chunk));
            synchronized (complaint) {
                complaint.append(new String(chunk, 0, count, StandardCharsets.UTF_8));
                complaint.delete(0, Math.max(0, complaint.length() - COMPLAINT));
            }
            errReady = false;
            if (count > 0) {
                errWatch.resume();
            }
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EAGAIN) {
                throw e;
            }
            errReady = false;
            errWatch.resume();
        }
    }

    @Override
    public void close() {
        closed = true;
        outWatch.close();
        errWatch.close();
        mailbox.end(new RunnerEvent.Over(""));
        Objects.requireNonNull(reader).interrupt();
        streams.close();
    }
}
