package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/// A lock that one thread of one process of this host holds at a time. It is a lock on a file, so the kernel releases
/// it when the process is killed. The file's directory must exist.
public final class HostLock {
    /// A file lock belongs to the process; the threads of a process need one of their own for each file.
    private static final Map<Path, ReentrantLock> WITHIN = new ConcurrentHashMap<>();

    /// Work that is done while the lock is held.
    public interface Work<T> {
        T run() throws IOException;
    }

    private final Path file;
    private final Duration limit;

    /// @param limit for the wait until other processes have released the lock
    public HostLock(Path file, Duration limit) {
        this.file = file.toAbsolutePath().normalize();
        this.limit = limit;
    }

    public <T> T hold(Work<T> work) throws IOException {
        var within = WITHIN.computeIfAbsent(file, _ -> new ReentrantLock());
        within.lock();
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var _ = lock(channel)) {
            return work.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } finally {
            within.unlock();
        }
    }

    private FileLock lock(FileChannel channel) throws IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (var lock = channel.tryLock(); ; lock = channel.tryLock()) {
            if (lock != null) {
                return lock;
            }
            if (System.nanoTime() > end) {
                throw new IOException("another Cay has held the lock %s for %d s".formatted(file, limit.toSeconds()));
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }
}
