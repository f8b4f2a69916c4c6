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
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
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

    private static final byte[] NOTHING = {};
    private static final int SIGKILL = 9;

    /// How long the report of an exit may take after the end of the output, and the rest of stderr.
    private static final Duration MOMENT = Duration.ofSeconds(1);

    private final GuestLink link;
    private final Workers workers;
    private final Streams streams;
    private final Descriptor in;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicBoolean killed = new AtomicBoolean();
    private final LineReader reader;
    private final Complaints complaints;

    /// Reports the end of a process before there is an object for it.
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

    private LineProcess(GuestLink link, Workers workers, LongLines room, Streams streams, Tail complaint, byte[] begun)
            throws ProtocolException {
        this.link = link;
        this.workers = workers;
        this.streams = streams;
        if (streams.stdin() == null || streams.stdout() == null || streams.stderr() == null) {
            streams.close();
            throw new ProtocolException("a process without its pipes");
        }
        this.in = streams.stdin();
        this.reader = new LineReader(workers, room, streams.stdout(), streams.pid(), this::awaitLastWords, begun);
        this.complaints = new Complaints(workers, streams.stderr(), complaint, streams.pid());
    }

    /// Starts a process; reading begins with {@link #hear}.
    ///
    /// @param complaint gets its stderr
    public static LineProcess start(GuestLink link, Workers workers, LongLines room, Spawn spawn, Tail complaint)
            throws IOException {
        var end = new End();
        var streams = link.spawn(spawn, end::exited);
        return begin(new LineProcess(link, workers, room, streams, complaint, NOTHING), end);
    }

    /// Receives an exit that may come before {@link #attach}.
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

        /// The process ended before it was claimed.
        public void exited(Exit exit) {
            end.exited(exit);
        }
    }

    /// Attaches to a running process. The last input may have been cut off in the middle of a line.
    public static LineProcess attach(GuestLink link, Workers workers, LongLines room, Claim claim, Tail complaint)
            throws IOException {
        return attach(link, workers, room, claim, complaint, NOTHING);
    }

    /// Attaches where {@link #leave} stopped: nothing is lost in between.
    ///
    /// @param begun the result of that call
    public static LineProcess attach(
            GuestLink link, Workers workers, LongLines room, Claim claim, Tail complaint, byte[] begun)
            throws IOException {
        var streams = link.attach(claim.pid);
        return begin(new LineProcess(link, workers, room, streams, complaint, begun), claim.end);
    }

    private static LineProcess begin(LineProcess process, End end) {
        end.belongsTo(process);
        return process;
    }

    /// Starts to read. Call this once.
    public void hear(LineListener who) throws IOException {
        complaints.start();
        reader.start(who);
    }

    public int pid() {
        return streams.pid();
    }

    /// Sends a line. Called by one thread at a time. After a failure a part of it may have been sent.
    public void send(byte[] line, Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (int sent = 0; sent < line.length; ) {
            int from = sent;
            int length = Math.min(CHUNK, line.length - from);
            try {
                sent += workers.guests().call(Complaints.STUCK, () -> DescriptorIo.write(in, line, from, length));
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

    /// Closes the input; the process still reads what was sent.
    public void closeInput() {
        in.close();
        tell("the end of its input", () -> link.closeStdin(pid()));
    }

    /// Signals the process and its group.
    public void signal(int signal) {
        tell("its signal", () -> link.signalGroup(pid(), signal));
    }

    /// A call to the guest that may come too late.
    private interface Call {
        void run() throws IOException;
    }

    private void tell(String what, Call call) {
        try {
            call.run();
        } catch (GuestException e) {
            log.atDebug().addKeyValue("pid", pid()).addKeyValue("what", what).log("a process had already ended");
        } catch (IOException e) {
            log.atLevel(link.isOver() ? Level.DEBUG : Level.WARN)
                    .setCause(e)
                    .addKeyValue("pid", pid())
                    .addKeyValue("what", what)
                    .log("a request about a process did not reach the guest");
        }
    }

    /// @return whether it has ended
    public boolean awaitExit(Duration limit) throws InterruptedException {
        return ended.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// Kills the process and its group, and has the guest forget it.
    public void kill() {
        if (!killed.compareAndSet(false, true)) {
            // The pid may have been reused.
            return;
        }
        signal(SIGKILL);
        close();
        try {
            link.forget(pid());
        } catch (IOException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid()).log("the guest does not know a process any more");
        }
    }

    /// Stops to read soon, and reports the reason to the listener.
    public void giveUp(String reason) {
        reader.giveUp(reason);
    }

    /// The same when the listener itself may be what blocks.
    public void breakOff(String reason) {
        reader.breakOff(reason);
    }

    private void exited(Exit how) {
        reader.exited(how);
        ended.countDown();
    }

    /// Waits for the last lines of stderr, which often say why the process ended.
    private void awaitLastWords() throws InterruptedException {
        if (awaitExit(MOMENT)) {
            complaints.awaitLast(MOMENT);
        }
    }

    /// Closes at the end of a line or between two reads, so that another reader can continue; all lines read by then
    /// were delivered. After the limit it is closed anyway.
    ///
    /// @param limit how long the listener may take
    /// @return the bytes of an unfinished line
    public byte[] leave(Duration limit) throws IOException, InterruptedException {
        try {
            return reader.leave(limit);
        } finally {
            close();
        }
    }

    @Override
    public void close() {
        reader.close();
        complaints.close();
        streams.close();
    }
}
