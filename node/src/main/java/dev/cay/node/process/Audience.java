package dev.cay.node.process;

import com.google.protobuf.UnsafeByteOperations;
import dev.cay.node.guest.Exit;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The subscribers to one process's output, the position of each, and whether the process must wait for them.
final class Audience implements OutputDelivery {
    private static final Duration LOOK = Duration.ofMillis(250);

    private final TableParts parts;
    private final long number;
    private final Map<Channel, OutputLog> logs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Journal journal = new Journal();
    private final List<OutputReader> readers = new ArrayList<>();
    private final Set<Source> waiting = new HashSet<>();
    private boolean watched;
    private Cursors.@Nullable Cursor cursor;
    private @Nullable OutputReader expected;
    private @Nullable Fresh fresh;
    private @Nullable Exit end;

    Audience(TableParts parts, long number, Map<Channel, OutputLog> logs) {
        this.parts = parts;
        this.number = number;
        this.logs = new EnumMap<>(logs);
    }

    /// Adds a subscriber from now on, or at the place that is reserved for one.
    OutputReader join() {
        return locked(() -> {
            OutputReader kept = expected;
            if (kept != null) {
                expected = null;
                kept.park(false);
                return kept;
            }
            return add(ends());
        });
    }

    OutputReader join(Map<Channel, Long> offsets) {
        return locked(() -> {
            var from = ends();
            offsets.forEach((channel, offset) -> from.put(channel, checked(channel, offset)));
            return add(from);
        });
    }

    /// Adds a subscriber that another table sent here; the reserved place is given up.
    OutputReader goOn(Map<Channel, Long> offsets) {
        return locked(() -> {
            var reader = join(offsets);
            dropExpected();
            return reader;
        });
    }

    private long checked(Channel channel, long offset) {
        OutputLog log = logs.get(channel);
        if (log == null || offset < 0 || offset > log.end()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "there is no byte %d of %s".formatted(offset, channel.label()));
        }
        if (offset > 0 && offset < log.oldest()) {
            throw new CayException(
                    ErrorKind.CONFLICT, "%s before byte %d was dropped".formatted(channel.label(), log.oldest()));
        }
        return Math.max(offset, log.oldest());
    }

    private OutputReader add(Map<Channel, Long> from) {
        parts.state().requireOpen();
        var reader = new OutputReader(from, ends(), journal);
        readers.add(reader);
        if (cursor == null) {
            cursor = parts.state().cursors().claim(number, Cursors.Place.of(from));
        }
        return reader;
    }

    private Map<Channel, Long> ends() {
        var ends = new EnumMap<Channel, Long>(Channel.class);
        logs.forEach((channel, log) -> ends.put(channel, log.end()));
        return ends;
    }

    /// Reserves a place for the client of a killed daemon, and makes the process wait for it a while.
    void expect(Cursors.Place sent) {
        locked(() -> {
            var from = ends();
            logs.forEach((channel, log) -> from.put(channel, Math.clamp(sent.of(channel), log.oldest(), log.end())));
            expected = add(from);
            expected.park(true);
            return null;
        });
        parts.workers().poller().after(parts.settings().stall(), this::dropExpected);
    }

    private void dropExpected() {
        OutputReader late = locked(() -> {
            OutputReader kept = expected;
            expected = null;
            return kept;
        });
        if (late != null) {
            leave(late);
        }
    }

    Output next(OutputReader reader, Duration limit) throws IOException, InterruptedException {
        if (!(awaitPiece(reader, limit) instanceof Piece(var channel, var position, var count))) {
            Exit exit = locked(() -> end);
            return exit != null && locked(() -> reader.choose(journal)) == null
                    ? new Output.End(exit)
                    : new Output.Silence();
        }
        Fresh newest = locked(() -> fresh);
        byte[] bytes = newest != null && newest.isPiece(channel, position, count)
                ? newest.bytes
                : read(channel, position, count);
        locked(() -> {
            reader.advance(channel, bytes.length);
            if (fresh != null && readers.stream().allMatch(fresh::isBehind)) {
                fresh = null;
            }
            trimAndRelease();
            return null;
        });
        return new Output.Data(channel, position, UnsafeByteOperations.unsafeWrap(bytes));
    }

    /// The newest piece of output, kept until all have it: a subscriber that keeps up never reads the log.
    private record Fresh(Channel channel, long offset, byte[] bytes) {
        boolean isPiece(Channel of, long position, int count) {
            return of == channel && position == offset && count == bytes.length;
        }

        boolean isBehind(OutputReader reader) {
            return reader.position(channel) >= offset + bytes.length;
        }
    }

    private record Piece(Channel channel, long position, int count) {}

    /// The next piece; null if there is none within the limit, or no more.
    private @Nullable Piece awaitPiece(OutputReader reader, Duration limit) throws InterruptedException {
        long left = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (true) {
                reader.check();
                Channel channel = reader.choose(journal);
                if (channel != null) {
                    return new Piece(channel, reader.position(channel), reader.available(channel, journal));
                }
                if (end != null || left <= 0) {
                    return null;
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private byte[] read(Channel channel, long position, int count) throws IOException {
        OutputLog log = logs.get(channel);
        if (log == null) {
            throw new IllegalStateException("no such stream");
        }
        try {
            return parts.workers().logs().call(Workers.FILE_LIMIT, () -> log.read(position, count));
        } catch (NoSuchFileException e) {
            throw new CayException(ErrorKind.CONFLICT, "output was dropped", e);
        }
    }

    /// Notes the piece as delivered before it is: a client often has the bytes, and could see the daemon die, before
    /// the thread that sent them runs again. {@link #allowed} takes it back where the sending does not get ahead.
    void sending(OutputReader reader) {
        locked(() -> {
            reader.beginSending();
            place(reader.at());
            return null;
        });
    }

    void sent(OutputReader reader) {
        locked(() -> {
            reader.endSending();
            place(reader.at());
            return null;
        });
    }

    private void place(Map<Channel, Long> delivered) {
        if (cursor != null) {
            cursor.moveTo(Cursors.Place.of(delivered));
        }
    }

    /// Removes a subscriber. One that leaves voluntarily gives up its place; one that a closing table sent away does
    /// not.
    void leave(OutputReader reader) {
        locked(() -> {
            readers.remove(reader);
            if (readers.isEmpty() && !parts.state().isClosed()) {
                forgetPlace();
            }
            trimAndRelease();
            return null;
        });
    }

    private void forgetPlace() {
        if (cursor != null) {
            cursor.clear();
            cursor = null;
        }
    }

    @Override
    public int allowance(Source pump) {
        return locked(() -> allowed(pump));
    }

    private int allowed(Source pump) {
        long allowed = Integer.MAX_VALUE;
        for (var reader : readers) {
            if (reader.stuck()) {
                place(reader.before());
            }
            allowed = Math.min(allowed, leeway(pump, reader));
        }
        return readers.isEmpty() || journal.hasRoom(pump.channel()) ? (int) allowed : 0;
    }

    @Override
    public void makeWait(Source pump) {
        locked(() -> {
            waiting.add(pump);
            trimAndRelease();
            if (!waiting.isEmpty() && !watched) {
                watched = true;
                parts.workers().poller().after(LOOK, this::lookAtReaders);
            }
            return null;
        });
    }

    /// While the process waits: disconnects subscribers that take nothing, and those that keep others waiting.
    private void lookAtReaders() {
        Duration stall = parts.settings().stall();
        var slow = new ArrayList<OutputReader>();
        var silent = new ArrayList<OutputReader>();
        boolean again = locked(() -> {
            for (var reader : readers) {
                if (holdsOthersUp(reader) && reader.pay(LOOK)) {
                    slow.add(reader);
                } else if (!waiting.isEmpty() && !reader.parked() && reader.idleFor(stall)) {
                    silent.add(reader);
                }
            }
            watched = !waiting.isEmpty();
            return watched;
        });
        slow.forEach(
                s -> cut(s, new CayException(ErrorKind.EXHAUSTED, "the output was read so slowly that others waited")));
        silent.forEach(s -> cut(s, new CayException(ErrorKind.EXHAUSTED, "the output was not read for " + stall)));
        if (again) {
            parts.workers().poller().after(LOOK, this::lookAtReaders);
        }
    }

    /// Whether the process waits for this one while another subscriber has everything.
    private boolean holdsOthersUp(OutputReader reader) {
        boolean holds = waiting.stream()
                .anyMatch(pump -> leeway(pump, reader) < pump.channel().chunk());
        return holds
                && readers.stream()
                        .anyMatch(other -> other != reader && !other.isSending() && other.choose(journal) == null);
    }

    private static long leeway(Source pump, OutputReader reader) {
        return pump.output().window() - (pump.output().end() - reader.position(pump.channel()));
    }

    @Override
    public void cutAll(CayException reason, boolean free) {
        locked(() -> List.copyOf(readers)).forEach(reader -> cut(reader, reason, free));
    }

    private void cut(OutputReader reader, CayException reason) {
        cut(reader, reason, true);
    }

    private void cut(OutputReader reader, CayException reason, boolean free) {
        Runnable freed = locked(() -> {
            expected = expected == reader ? null : expected;
            Runnable action = reader.cut(reason);
            leave(reader);
            changed.signalAll();
            return action;
        });
        if (free && freed != null) {
            freed.run();
        }
    }

    private void trimAndRelease() {
        journal.trim(readers.stream().mapToLong(OutputReader::run).min().orElse(journal.next()));
        waiting.removeIf(pump -> {
            boolean free = allowed(pump) >= pump.channel().chunk();
            if (free) {
                pump.resume();
            }
            return free;
        });
    }

    @Override
    public void arrived(Channel channel, OutputLog log, int count, byte @Nullable [] bytes) {
        locked(() -> {
            fresh = bytes == null || readers.isEmpty() ? null : new Fresh(channel, log.end(), bytes);
            log.advance(count);
            if (!readers.isEmpty()) {
                journal.append(channel, count);
                changed.signalAll();
            }
            return null;
        });
    }

    void end(Exit exit) {
        locked(() -> {
            end = exit;
            changed.signalAll();
            return null;
        });
    }

    @Override
    public boolean isEmpty() {
        return locked(readers::isEmpty);
    }

    void cutIdle(Duration limit) {
        locked(() -> readers.stream().filter(reader -> reader.idleFor(limit)).toList())
                .forEach(s -> cut(s, new CayException(ErrorKind.EXHAUSTED, "the output was not read for " + limit)));
    }

    void close() {
        locked(() -> {
            if (!parts.state().isClosed()) {
                forgetPlace();
            }
            return null;
        });
    }

    <T extends @Nullable Object> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
