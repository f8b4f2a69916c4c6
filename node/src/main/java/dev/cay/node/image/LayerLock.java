package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The lock of a process that builds a layer: the file `.KEY.lock` beside the layers. Threads of one process need
/// another lock.
///
/// The holder of the lock may delete the file. A process that had it open then gets the lock of an unlinked file, while
/// a third one makes another file of that name. So after getting the lock a process checks that the file of that name
/// is still the same. It does so without opening it: closing any descriptor of a file releases all locks of the process
/// on it.
final class LayerLock implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(200);

    /// Work that is done while the lock is held.
    interface Work {
        void run(Path lockFile) throws IOException;
    }

    private final FileChannel channel;

    private LayerLock(FileChannel channel) {
        this.channel = channel;
    }

    private static Path file(Path layers, String key) {
        return layers.resolve("." + key + ".lock");
    }

    /// Whether any process has ever used the lock.
    static boolean exists(Path layers, String key) {
        return Files.exists(file(layers, key));
    }

    /// Waits for the lock.
    ///
    /// @param waiting called from time to time while another process has it
    static LayerLock take(Path layers, String key, Duration limit, Runnable waiting)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (var lock = attempt(file(layers, key)); ; lock = attempt(file(layers, key))) {
            if (lock != null) {
                return lock;
            }
            if (System.nanoTime() > end) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE, "layer %s is still being built by another process".formatted(key));
            }
            waiting.run();
            // Polling, because a thread that blocks in the kernel could not be interrupted.
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
    }

    /// Does something with the lock held.
    ///
    /// @return false if another process has it
    static boolean tryWith(Path layers, String key, Work work) throws IOException {
        try (var lock = attempt(file(layers, key))) {
            if (lock == null) {
                return false;
            }
            work.run(file(layers, key));
            return true;
        }
    }

    private static @Nullable LayerLock attempt(Path file) throws IOException {
        try {
            Files.createFile(file);
        } catch (FileAlreadyExistsException _) {
            // As usual.
        }
        var before = identity(file);
        var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (before != null && channel.tryLock() != null && before.equals(identity(file))) {
                return new LayerLock(channel);
            }
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
        channel.close();
        return null;
    }

    private static @Nullable Object identity(Path file) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
