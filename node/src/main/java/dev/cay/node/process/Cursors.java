package dev.cay.node.process;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The positions up to which subscribers got each process's output, in a mapped file that outlives the daemon.
///
/// There is one file for all processes of a sandbox, because mappings are scarce. A slot is the process's number (0:
/// free) and two offsets. A write is in the page cache at once, which is all that a killed daemon needs.
final class Cursors implements AutoCloseable {
    private static final int SLOTS = 1024;
    private static final int SLOT = 24;

    /// The positions in the streams of a process.
    ///
    /// @param output of stdout, or of the terminal of a process that has one
    /// @param errors of stderr
    record Place(long output, long errors) {
        static Place of(Map<Channel, Long> offsets) {
            long terminal = offsets.getOrDefault(Channel.PTY, 0L);
            return new Place(offsets.getOrDefault(Channel.STDOUT, terminal), offsets.getOrDefault(Channel.STDERR, 0L));
        }

        long of(Channel channel) {
            return channel == Channel.STDERR ? errors : output;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment map;
    private final BitSet taken = new BitSet();

    Cursors(Path file) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.size() < SLOTS * SLOT) {
                // Written, not only sized: a store into a page for which there is no space would end the JVM.
                channel.write(ByteBuffer.allocate(SLOTS * SLOT), 0);
            }
            map = channel.map(FileChannel.MapMode.READ_WRITE, 0, SLOTS * SLOT, arena);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// Takes the positions that an earlier daemon left for this process; null when it had no subscriber.
    synchronized @Nullable Place recover(long number) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (!taken.get(slot) && get(slot, 0) == number) {
                set(slot, 0, 0);
                return new Place(get(slot, 8), get(slot, 16));
            }
        }
        return null;
    }

    /// Clears the remaining positions, after those of all running processes were taken.
    synchronized void clearUnclaimed() {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (!taken.get(slot)) {
                set(slot, 0, 0);
            }
        }
    }

    /// A slot for the process, or null when there is none left; then a crash loses its place, nothing else.
    synchronized @Nullable Cursor claim(long number, Place place) {
        int slot = taken.nextClearBit(0);
        if (slot >= SLOTS) {
            return null;
        }
        taken.set(slot);
        set(slot, 8, place.output());
        set(slot, 16, place.errors());
        set(slot, 0, number);
        return new Cursor(slot);
    }

    private long get(int slot, int field) {
        return map.get(ValueLayout.JAVA_LONG, (long) slot * SLOT + field);
    }

    private void set(int slot, int field, long value) {
        map.set(ValueLayout.JAVA_LONG, (long) slot * SLOT + field, value);
    }

    /// Leaves the cursors as they are, for the next table.
    @Override
    public synchronized void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    /// The slot of one process.
    final class Cursor {
        private final int slot;

        private Cursor(int slot) {
            this.slot = slot;
        }

        /// Moves the position, never backwards.
        void moveTo(Place place) {
            synchronized (Cursors.this) {
                if (arena.scope().isAlive()) {
                    set(slot, 8, Math.max(get(slot, 8), place.output()));
                    set(slot, 16, Math.max(get(slot, 16), place.errors()));
                }
            }
        }

        /// Clears the position, because the last subscriber left voluntarily.
        void clear() {
            synchronized (Cursors.this) {
                if (arena.scope().isAlive()) {
                    set(slot, 0, 0);
                }
                taken.clear(slot);
            }
        }
    }
}
