package dev.cay.node.lines;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.process.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads a process's stderr all the time, because the process would block otherwise.
final class Complaints implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Complaints.class);
    private static final int CHUNK = 4 << 10;

    /// How long a call on a pipe may wait for its turn among those of other sandboxes.
    static final Duration STUCK = Duration.ofSeconds(5);

    /// Number of chunks in a row after which other processes get the thread.
    private static final int MANY = 16;

    private final Workers workers;
    private final Descriptor err;
    private final Tail tail;
    private final int pid;
    private final FdPoller.Watch watch;
    private final Semaphore signs = new Semaphore(0);
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread reader;
    private volatile boolean last;
    private volatile boolean closed;

    /// @param err is its owner's to close
    Complaints(Workers workers, Descriptor err, Tail tail, int pid) {
        this.workers = workers;
        this.err = err;
        this.tail = tail;
        this.pid = pid;
        this.watch = workers.poller().watch(err, FdPoller.IN, this::ready);
        this.reader = Thread.ofVirtual().name("complaints-" + pid).unstarted(this::read);
    }

    void start() throws IOException {
        reader.start();
        watch.resume();
    }

    private void ready() {
        watch.pause();
        signs.release();
    }

    private void read() {
        try {
            byte[] chunk = new byte[CHUNK];
            boolean ending;
            do {
                signs.acquire();
                // Read before the loop: bytes that come after an earlier read may be the very last.
                ending = last;
            } while (readSome(chunk) && !ending);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid).log("standard error of a process is not read any more");
        } finally {
            done.countDown();
        }
    }

    /// @return false at the end
    private boolean readSome(byte[] chunk) throws IOException, InterruptedException {
        for (int chunks = 1; !closed; chunks++) {
            try {
                int count = workers.guests().call(STUCK, () -> closed ? 0 : read(chunk));
                if (count == 0) {
                    return false;
                }
                tail.add(chunk, count);
            } catch (ErrnoException e) {
                if (e.errno() != Errno.EAGAIN) {
                    throw e;
                }
                watch.resume();
                return true;
            }
            if (chunks % MANY == 0) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        return false;
    }

    private int read(byte[] chunk) throws IOException {
        return DescriptorIo.read(err, chunk, 0, chunk.length);
    }

    /// Waits until everything written before the call is read. Other processes may write to the pipe for ever.
    void awaitLast(Duration limit) throws InterruptedException {
        last = true;
        signs.release();
        if (!done.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            log.atDebug()
                    .addKeyValue("pid", pid)
                    .log("other processes keep the standard error of an ended process open");
        }
    }

    @Override
    public void close() {
        closed = true;
        watch.close();
        reader.interrupt();
    }
}
