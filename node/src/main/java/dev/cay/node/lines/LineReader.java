package dev.cay.node.lines;

import dev.cay.node.guest.Exit;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Reads the output of one process on a virtual thread, and passes each line on to a listener, at its speed.
final class LineReader implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LineReader.class);

    private static final int CHUNK = 64 << 10;

    /// The first read of what came: most messages are shorter.
    private static final int SMALL = 8 << 10;

    private static final int EMPTY = -1;

    /// Waits, with a limit, for what else a process says at its end.
    interface LastWords {
        void await() throws InterruptedException;
    }

    private final Workers workers;
    private final LongLines room;
    private final Descriptor out;
    private final int pid;
    private final LastWords lastWords;
    private final FdPoller.Watch watch;
    private final Semaphore signs = new Semaphore(0);
    private final Thread thread;

    /// Bytes of an unfinished line from before, or for the next reader.
    private byte[] begun;

    private volatile boolean ready;
    private volatile @Nullable Exit exit;
    private volatile @Nullable String givenUp;
    private volatile boolean closed;
    private volatile boolean whole;
    private @Nullable LineListener listener;

    /// @param out   the pipe; stays open
    /// @param begun bytes of an unfinished line, by the reader before
    LineReader(Workers workers, LongLines room, Descriptor out, int pid, LastWords lastWords, byte[] begun) {
        this.workers = workers;
        this.room = room;
        this.out = out;
        this.pid = pid;
        this.lastWords = lastWords;
        this.begun = begun;
        this.watch = workers.poller().watch(out, FdPoller.IN, this::ready);
        this.thread = Thread.ofVirtual().name("lines-" + pid).unstarted(this::read);
    }

    /// Starts to read. Call this once.
    void start(LineListener to) throws IOException {
        listener = to;
        thread.start();
        watch.resume();
    }

    private void ready() {
        watch.pause();
        ready = true;
        signs.release();
    }

    /// The process has ended: what is in the pipe now is the rest.
    void exited(Exit how) {
        exit = how;
        signs.release();
    }

    /// Stops to read soon, and reports the reason to the listener.
    void giveUp(String reason) {
        givenUp = reason;
        signs.release();
    }

    /// The same when the listener itself may be what blocks.
    void breakOff(String reason) {
        giveUp(reason);
        thread.interrupt();
    }

    private void read() {
        var to = Objects.requireNonNull(listener);
        String reason = readToTheEnd(to);
        if (!closed) {
            // The thread that broke off has interrupted this one.
            boolean _ = Thread.interrupted();
            to.over(givenUp == null ? reason : givenUp, exit);
        }
    }

    /// @return why it is given up; empty when it ended by itself
    private String readToTheEnd(LineListener to) {
        try {
            try (var lines = new LineBuffer(room)) {
                lines.add(begun, begun.length, line -> to.line(line, lines));
                begun = new byte[0];
                while (goesOn()) {
                    await(lines);
                    boolean more = !(ready || exit != null) || readSome(lines, to);
                    if (!more) {
                        break;
                    }
                }
                begun = lines.begun();
                whole = !lines.isLong();
            }
            if (goesOn()) {
                lastWords.await();
            }
        } catch (InterruptedException e) {
            return "it was interrupted";
        } catch (IOException | RuntimeException e) {
            log.atLevel(closed ? Level.DEBUG : Level.INFO)
                    .addKeyValue("pid", pid)
                    .addKeyValue("reason", e.getMessage())
                    .log("the node disconnects from a process that cannot be read");
            return String.valueOf(e.getMessage());
        }
        return "";
    }

    private boolean goesOn() {
        return !closed && givenUp == null;
    }

    /// Waits until there is something to read or to do; an unfinished line must continue in time.
    private void await(LineBuffer lines) throws InterruptedException, ProtocolException {
        var patience = lines.patience();
        if (patience == null) {
            signs.acquire();
        } else if (!signs.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ProtocolException("it stopped in the middle of a long line");
        }
    }

    /// @return false at the end
    private boolean readSome(LineBuffer lines, LineListener to) throws IOException, InterruptedException {
        byte[] chunk = new byte[SMALL];
        while (goesOn()) {
            // Known before the read: what the process wrote last may come right after an earlier one.
            boolean ending = exit != null;
            int count = read(chunk);
            if (count == 0) {
                return false;
            }
            if (count > 0) {
                lines.add(chunk, count, line -> to.line(line, lines));
            }
            if (count < chunk.length) {
                // The pipe is empty. Children may keep it open for ever, but only the process itself counts.
                ready = false;
                watch.resume();
                return !ending;
            }
            chunk = chunk.length < CHUNK ? new byte[CHUNK] : chunk;
        }
        return false;
    }

    /// Reads without blocking.
    ///
    /// @return how many bytes were read, 0 at the end, {@link #EMPTY} when there are none now
    private int read(byte[] chunk) throws IOException {
        try {
            return workers.guests()
                    .call(Complaints.STUCK, () -> closed ? 0 : DescriptorIo.read(out, chunk, 0, chunk.length));
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EAGAIN) {
                throw e;
            }
            return EMPTY;
        }
    }

    /// Stops at the end of a line or between two reads, so that another reader can continue; all lines read by then
    /// were delivered. To be closed afterwards.
    ///
    /// @param limit how long the listener may take
    /// @return the bytes of an unfinished line
    byte[] leave(Duration limit) throws IOException, InterruptedException {
        closed = true;
        signs.release();
        if (!thread.join(limit) || !whole) {
            throw new IOException("what it said last could not be heard to its end");
        }
        return begun;
    }

    @Override
    public void close() {
        closed = true;
        watch.close();
        // The listener itself may be what closes.
        if (!Thread.currentThread().equals(thread)) {
            thread.interrupt();
        }
    }
}
