package dev.cay.server.ring;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps the latest entries of many keys in one file of limited size. Thread-safe.
///
/// The file consists of blocks, each of one key; at the limit the oldest one is used again. Nothing is synced: appended
/// entries survive the end of this process, also a kill, and a crash of the machine costs the last half minute. A torn
/// block has a wrong checksum and is left out.
///
/// All file work is done on one platform thread that starts with the first append or read, and ends when there is
/// nothing to do. An append never waits; when the
/// thread is too far behind, it is dropped and counted. A read comes after all appends before it.
public final class RingFile implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RingFile.class);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int MOST_WAITING = 20_000;
    private static final long MOST_BYTES_WAITING = 16 << 20;

    /// Something to be appended.
    ///
    /// @param key    at most 40 characters of ASCII
    /// @param weight how much memory it holds while it waits, about
    public record Append(String key, RingEntry entry, int weight) {}

    private final Blocks blocks;
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong waiting = new AtomicLong();
    private final ThreadPoolExecutor thread;
    private boolean loaded;
    private boolean failing;

    /// Does not touch the file yet. The first append or read opens it, or makes it, and looks through what it holds.
    public RingFile(Path file, RingLimits limits, InstantSource clock) {
        blocks = new Blocks(file, limits, clock);
        thread = new ThreadPoolExecutor(
                1,
                1,
                30,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MOST_WAITING),
                Thread.ofPlatform().daemon().name("ring-" + file.getFileName()).factory());
        thread.allowCoreThreadTimeOut(true);
    }

    public void append(String key, byte[] bytes) {
        append(List.of(new Append(key, _ -> bytes, bytes.length)));
    }

    public void append(List<Append> appends) {
        long weight = appends.stream().mapToLong(Append::weight).sum();
        if (waiting.addAndGet(weight) > MOST_BYTES_WAITING) {
            giveUp(appends, weight);
            return;
        }
        try {
            thread.execute(() -> {
                appends.forEach(this::write);
                waiting.addAndGet(-weight);
            });
        } catch (RejectedExecutionException e) {
            giveUp(appends, weight);
        }
    }

    private void giveUp(List<Append> appends, long weight) {
        waiting.addAndGet(-weight);
        dropped.addAndGet(appends.size());
    }

    /// The entries of the key, oldest first.
    public List<byte[]> read(String key) {
        try {
            return thread.submit(() -> loaded().read(key)).get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "what was kept of the sandbox cannot be read now", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    /// The number of appends that were dropped because too many waited or the disk failed.
    public long dropped() {
        return dropped.get();
    }

    /// Writes what waits, and closes the file.
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        blocks.close();
    }

    /// On the thread alone.
    private Blocks loaded() {
        if (!loaded) {
            loaded = true;
            try {
                blocks.load();
            } catch (IOException e) {
                failed(e);
            }
        }
        return blocks;
    }

    private void write(Append append) {
        try {
            loaded().append(append.key(), append.entry());
            failing = false;
        } catch (IOException | RuntimeException e) {
            dropped.incrementAndGet();
            failed(e);
        }
    }

    /// Logs a failure once, not for every line of a thousand sandboxes.
    private void failed(Exception e) {
        if (!failing) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("file", blocks.file())
                    .log("cannot write metrics or logs of sandboxes; they are lost until writing works again");
        }
        failing = true;
    }
}
