package dev.cay.http;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Limits the memory of messages that are held as a whole. Large messages wait for each other, and a sender that others
/// wait for must send in time. One sandbox may hold one at a time. Thread-safe.
public final class LargeMessages {
    /// Generous for files' metadata and process input, small enough that a few bad clients cannot fill the heap.
    public static final int MOST_BYTES = 16 << 20;

    public static final String TOO_LARGE = "a message may have 16 MiB; send files by /files";

    /// Smaller ones are not worth waiting for.
    static final int LARGE = 1 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /// A message takes this many times its length: as bytes, parsed, and in what is made of it.
    private static final int COPIES = 4;

    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition changed = lock.newCondition();
    private final Set<SandboxId> inside = new HashSet<>();
    private final long most;
    private long room;

    LargeMessages() {
        this(Runtime.getRuntime().maxMemory() / 3);
    }

    LargeMessages(long room) {
        this.most = Math.max(room, (long) MOST_BYTES * COPIES);
        this.room = most;
    }

    /// A reservation for one message, which holds nothing yet.
    ///
    /// @param from    the sandbox that it comes from, null from outside
    /// @param hurried starts the time limit of a sender that others wait for; cancelled when the message is done
    Room room(@Nullable SandboxId from, Supplier<Future<?>> hurried) {
        return new Room(from, hurried);
    }

    /// Takes the memory if it is free now.
    private boolean tryTake(long bytes, @Nullable SandboxId from) {
        lock.lock();
        try {
            if (bytes > room || (from != null && !inside.add(from))) {
                return false;
            }
            room -= bytes;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void take(long bytes, @Nullable SandboxId from) {
        lock.lock();
        try {
            long left = LIMIT.toNanos();
            while (bytes > room || (from != null && inside.contains(from))) {
                if (left <= 0) {
                    throw new CayException(
                            ErrorKind.EXHAUSTED, "too many large messages at once; send smaller ones or try again");
                }
                left = changed.awaitNanos(left);
            }
            room -= bytes;
            if (from != null) {
                inside.add(from);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(long bytes, @Nullable SandboxId from) {
        lock.lock();
        try {
            room += bytes;
            if (from != null) {
                inside.remove(from);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// The memory of one message, held until it is closed. Its methods are called one after the other, by any thread.
    public final class Room implements AutoCloseable {
        private final @Nullable SandboxId from;
        private final Supplier<Future<?>> hurried;
        private volatile @Nullable Future<?> hurry;
        private volatile long bytes;

        private Room(@Nullable SandboxId from, Supplier<Future<?>> hurried) {
            this.from = from;
            this.hurried = hurried;
        }

        /// Waits for memory for a message of that length, if it is a large one and has none yet.
        public void need(long length) {
            if (length > LARGE && bytes == 0) {
                long wanted = Math.min(length, MOST_BYTES) * COPIES;
                take(wanted, from);
                bytes = wanted;
                hurry = hurried.get();
            }
        }

        /// Reads to the end of the input, up to the limit for a message; waits for memory when the message is large.
        public byte[] read(InputStream in) throws IOException {
            byte[] begin = in.readNBytes(LARGE);
            if (begin.length < LARGE) {
                return begin;
            }
            need(MOST_BYTES);
            byte[] rest = in.readNBytes(MOST_BYTES + 1 - begin.length);
            if (begin.length + rest.length > MOST_BYTES) {
                throw new CayException(ErrorKind.EXHAUSTED, TOO_LARGE);
            }
            byte[] all = Arrays.copyOf(begin, begin.length + rest.length);
            System.arraycopy(rest, 0, all, begin.length, rest.length);
            return all;
        }

        /// Like {@link #need} for an answer that is being made, but in bytes of memory and without waiting.
        public void demand(long memory) {
            if (bytes > 0) {
                return;
            }
            long wanted = Math.min(memory, most);
            if (!tryTake(wanted, from)) {
                throw new CayException(ErrorKind.EXHAUSTED, "too many large answers at once; try again");
            }
            bytes = wanted;
        }

        @Override
        public void close() {
            var begun = hurry;
            if (begun != null) {
                begun.cancel(false);
            }
            if (bytes > 0) {
                giveBack(bytes, from);
                bytes = 0;
            }
        }
    }
}
