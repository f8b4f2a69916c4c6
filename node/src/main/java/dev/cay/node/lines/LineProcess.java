package dev.cay.node.lines;

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
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// A process in a sandbox and the pipes to it: lines go in, lines come out. Reads always, so that nothing in the
/// sandbox stands still for want of a listener; while there is one, at its speed.
///
/// To close it gives the pipes back and leaves the process as it is; the guest keeps its own ends.
public final class LineProcess implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LineProcess.class);

    private static final int CHUNK = 64 << 10;
    private static final int COMPLAINT = 4 << 10;
    private static final int SIGKILL = 9;

    /// Root inside can make a call on a borrowed pipe hang.
    private static final Duration STUCK = Duration.ofSeconds(5);

    /// How long the news of an exit may take after the end of what the process wrote, and the rest of its complaints.
    private static final Duration MOMENT = Duration.ofSeconds(1);

    /// Who hears a process, by one thread.
    public interface Hearer {
        /// May keep the thread: then the process waits.
        ///
        /// @param lines what it was cut from, which knows whether it is long
        void line(byte[] line, LineBuffer lines) throws ProtocolException, InterruptedException;

        /// The last call, once, unless it was closed.
        ///
        /// @param reason why it is given up; empty when it ended by itself
        /// @param exit   null when it only stopped talking
        void over(String reason, @Nullable Exit exit);
    }

    private final GuestLink link;
    private final Workers workers;
    private final LongLines room;
    private final Streams streams;
    private final Descriptor in;
    private final Descriptor out;
    private final Descriptor err;
    private final Tail complaint;
    private final Hearer hearer;
    private final FdPoller.Watch outWatch;
    private final FdPoller.Watch errWatch;
    private final Semaphore signs = new Semaphore(0);
    private final Semaphore complaints = new Semaphore(0);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch complained = new CountDownLatch(1);
    private final AtomicBoolean killed = new AtomicBoolean();
    private final Thread reader;
    private final Thread errReader;
    private volatile boolean outReady;
    private volatile @Nullable Exit exit;
    private volatile boolean closed;

    /// How a process is told of its end before there is an object for it.
    private static final class End {
        private @Nullable LineProcess process;
        private @Nullable Exit came;

        synchronized void exited(Exit exit) {
            came = exit;
            if (process != null) {
                process.exited(exit);
            }
        }

        synchronized void belongsTo(LineProcess one) {
            process = one;
            if (came != null) {
                one.exited(came);
            }
        }
    }

    private LineProcess(GuestLink link, Workers workers, LongLines room, Streams streams, Tail complaint, Hearer hearer)
            throws ProtocolException {
        this.link = link;
        this.workers = workers;
        this.room = room;
        this.streams = streams;
        this.complaint = complaint;
        this.hearer = hearer;
        if (streams.stdin() == null || streams.stdout() == null || streams.stderr() == null) {
            streams.close();
            throw new ProtocolException("a process without its pipes");
        }
        this.in = streams.stdin();
        this.out = streams.stdout();
        this.err = streams.stderr();
        this.outWatch = workers.poller().watch(out, FdPoller.IN, this::outReady);
        this.errWatch = workers.poller().watch(err, FdPoller.IN, this::errReady);
        this.reader = Thread.ofVirtual().name("lines-" + streams.pid()).unstarted(this::read);
        this.errReader = Thread.ofVirtual().name("complaints-" + streams.pid()).unstarted(this::readComplaints);
    }

    /// @param complaint gets what it says on its stderr
    public static LineProcess start(
            GuestLink link, Workers workers, LongLines room, Spawn spawn, Tail complaint, Hearer hearer)
            throws IOException {
        var end = new End();
        var streams = link.spawn(spawn, end::exited);
        return begin(new LineProcess(link, workers, room, streams, complaint, hearer), end);
    }

    /// Whom an exit is for that may come before {@link #attach}.
    public static final class Claim {
        private final int pid;
        private final End end = new End();

        public Claim(GuestLink link, int pid) {
            this.pid = pid;
            link.claim(pid, end::exited);
        }

        public int pid() {
            return pid;
        }
    }

    /// One that runs already. What it was told last may have been cut off in the middle of a line.
    public static LineProcess attach(
            GuestLink link, Workers workers, LongLines room, Claim claim, Tail complaint, Hearer hearer)
            throws IOException {
        var streams = link.attach(claim.pid);
        return begin(new LineProcess(link, workers, room, streams, complaint, hearer), claim.end);
    }

    private static LineProcess begin(LineProcess process, End end) throws ErrnoException {
        end.belongsTo(process);
        process.reader.start();
        process.errReader.start();
        process.outWatch.resume();
        process.errWatch.resume();
        return process;
    }

    public int pid() {
        return streams.pid();
    }

    /// By one thread at a time. One that fails may have been sent in part.
    public void send(byte[] line, Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
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

    /// It reads to the end of its input.
    public void closeInput() {
        in.close();
        tell("the end of its input", () -> link.closeStdin(pid()));
    }

    /// To it and all of its group.
    public void signal(int signal) {
        tell("its signal", () -> link.signalGroup(pid(), signal));
    }

    /// What may come too late.
    private interface Call {
        void run() throws IOException;
    }

    private void tell(String what, Call call) {
        try {
            call.run();
        } catch (GuestException e) {
            log.atDebug().addKeyValue("pid", pid()).addKeyValue("what", what).log("a process was gone before");
        } catch (IOException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("pid", pid())
                    .addKeyValue("what", what)
                    .log("a process was not told");
        }
    }

    /// @return whether it has ended
    public boolean awaitExit(Duration limit) throws InterruptedException {
        return ended.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// Ends it and what it started, and lets the guest forget it.
    public void kill() {
        if (!killed.compareAndSet(false, true)) {
            // Its number may be somebody else's by now.
            return;
        }
        signal(SIGKILL);
        close();
        try {
            link.forget(pid());
        } catch (IOException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid()).log("a process was forgotten already");
        }
    }

    private void outReady() {
        outWatch.pause();
        outReady = true;
        signs.release();
    }

    private void errReady() {
        errWatch.pause();
        complaints.release();
    }

    private void exited(Exit how) {
        exit = how;
        ended.countDown();
        signs.release();
    }

    private void read() {
        String reason = "";
        try {
            try (var lines = new LineBuffer(room)) {
                while (!closed) {
                    await(lines);
                    boolean goesOn = !(outReady || exit != null) || readSome(lines);
                    if (!goesOn) {
                        break;
                    }
                }
            } catch (IOException | RuntimeException e) {
                reason = String.valueOf(e.getMessage());
                log.atLevel(closed ? Level.DEBUG : Level.INFO)
                        .addKeyValue("pid", pid())
                        .addKeyValue("reason", reason)
                        .log("a process is given up");
            }
            awaitLastWords(reason);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!closed) {
            hearer.over(reason, exit);
        }
    }

    /// Returns when there is something to do; a line that was begun must go on.
    private void await(LineBuffer lines) throws InterruptedException, ProtocolException {
        var patience = lines.patience();
        if (patience == null) {
            signs.acquire();
        } else if (!signs.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ProtocolException("it stopped in the middle of a long line");
        }
    }

    /// @return false at the end
    private boolean readSome(LineBuffer lines) throws IOException, InterruptedException {
        byte[] chunk = new byte[CHUNK];
        while (!closed) {
            int count;
            try {
                count = read(out, chunk);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
                // Children may keep the pipe open for ever; they are not who we speak with.
                outReady = false;
                outWatch.resume();
                return exit == null;
            }
            if (count == 0) {
                return false;
            }
            lines.add(chunk, count, line -> hearer.line(line, lines));
        }
        return false;
    }

    /// Nobody may wait for it any more when it comes to it.
    private int read(Descriptor from, byte[] chunk) throws IOException {
        return workers.guests().call(STUCK, () -> closed ? 0 : DescriptorIo.read(from, chunk, 0, chunk.length));
    }

    private void readComplaints() {
        try {
            byte[] chunk = new byte[COMPLAINT];
            do {
                complaints.acquire();
            } while (readComplaints(chunk) && ended.getCount() > 0);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid()).log("complaints of a process are not read any more");
        } finally {
            complained.countDown();
        }
    }

    /// @return false at the end
    private boolean readComplaints(byte[] chunk) throws IOException {
        while (!closed) {
            try {
                int count = read(err, chunk);
                if (count == 0) {
                    return false;
                }
                complaint.add(chunk, count);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
                errWatch.resume();
                return true;
            }
        }
        return false;
    }

    /// What it said last often tells why it ended.
    private void awaitLastWords(String reason) throws InterruptedException {
        if (!closed && reason.isEmpty() && awaitExit(MOMENT)) {
            complaints.release();
            if (!complained.await(MOMENT.toNanos(), TimeUnit.NANOSECONDS)) {
                log.atDebug().addKeyValue("pid", pid()).log("somebody complains on after the end of a process");
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        outWatch.close();
        errWatch.close();
        // Whoever hears us may be who closes.
        if (Thread.currentThread() != reader) {
            reader.interrupt();
        }
        errReader.interrupt();
        streams.close();
    }
}
