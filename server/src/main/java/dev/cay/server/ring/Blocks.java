package dev.cay.server.ring;

import dev.cay.life.RootOnly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/// The blocks of a ring file and their keys. Used by one thread.
///
/// ```
///   0 checksum of the rest · 4 sequence · 12 second of the last append · 20 bytes used · 22 length of key · 23 key
///  64 entries
/// ```
/// A sequence number is never used twice, so it gives the age of a block and shows whether a reference to it is still
/// valid.
final class Blocks implements AutoCloseable {
    static final int HEADER = 64;
    private static final int MOST_KEY = 40;
    private static final int CHUNK = 1 << 20;
    /// Most blocks that are kept in memory while they are filled; the one written least recently is dropped and stays
    /// half full.
    private static final int MOST_OPEN = 2048;

    /// A block as it was when noted.
    private record Note(int block, long sequence) {}

    /// A block that is being filled.
    private static final class Open {
        final int number;
        final byte[] bytes;
        int used = HEADER;

        Open(int number, int size) {
            this.number = number;
            this.bytes = new byte[size];
        }
    }

    private final Path file;
    private final RingLimits limits;
    private final InstantSource clock;
    private final int most;
    private final ArrayDeque<Note> byAge = new ArrayDeque<>();
    private final Map<String, Note> newest = new HashMap<>();
    private final Map<String, Open> open = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Open> eldest) {
            return size() > MOST_OPEN;
        }
    };
    private @Nullable FileChannel channel;
    private long[] sequences = new long[64];
    private long[] written = new long[64];
    private @Nullable String[] owners = new @Nullable String[64];
    /// For each block the previous block of its key; valid as long as that one is older.
    private int[] before = new int[64];
    private int count;
    private long sequence;

    Blocks(Path file, RingLimits limits, InstantSource clock) {
        this.file = file;
        this.limits = limits;
        this.clock = clock;
        this.most = (int) (limits.mostBytes() / limits.blockBytes());
    }

    Path file() {
        return file;
    }

    /// Reads the headers of blocks of an earlier process.
    void load() throws IOException {
        var opened = channel();
        var found = new ArrayList<Note>();
        int size = limits.blockBytes();
        var chunk = ByteBuffer.allocate(Math.max(1, CHUNK / size) * size);
        int blocks = (int) Math.min(most, opened.size() / size);
        while (count < blocks) {
            chunk.clear();
            int read = opened.read(chunk, (long) count * size);
            int whole = Math.min(Math.max(0, read) / size, blocks - count);
            if (whole == 0) {
                break;
            }
            for (int i = 0; i < whole; i++) {
                found.add(look(Arrays.copyOfRange(chunk.array(), i * size, (i + 1) * size)));
            }
        }
        found.sort(Comparator.comparingLong(Note::sequence));
        found.forEach(this::join);
    }

    void append(String key, RingEntry entry) throws IOException {
        var present = open.get(key);
        byte[] bytes = present == null ? null : entry.bytes(false);
        if (present == null || bytes == null || present.used + bytes.length > present.bytes.length) {
            bytes = Objects.requireNonNull(entry.bytes(true));
            if (HEADER + bytes.length > limits.blockBytes()) {
                throw new IllegalArgumentException("an entry of %d bytes is too large".formatted(bytes.length));
            }
            present = begin(key);
        }
        System.arraycopy(bytes, 0, present.bytes, present.used, bytes.length);
        present.used += bytes.length;
        store(present, key);
    }

    /// The entries of the key, oldest first.
    List<byte[]> read(String key) throws IOException {
        var found = new ArrayList<byte[]>();
        for (int block : of(key)) {
            byte[] bytes = new byte[limits.blockBytes()];
            int read = channel().read(ByteBuffer.wrap(bytes), (long) block * bytes.length);
            if (read == bytes.length && sound(bytes) && key.equals(key(bytes))) {
                found.add(Arrays.copyOfRange(bytes, HEADER, used(bytes)));
            }
        }
        Collections.reverse(found);
        return found;
    }

    @Override
    public void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private FileChannel channel() throws IOException {
        if (channel == null) {
            RootOnly.directory(Objects.requireNonNull(file.toAbsolutePath().getParent()));
            channel = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        return channel;
    }

    /// Blocks of the key, newest first.
    private List<Integer> of(String key) {
        var found = new ArrayList<Integer>();
        Note note = newest.get(key);
        if (note == null || sequences[note.block()] != note.sequence()) {
            return found;
        }
        int block = note.block();
        found.add(block);
        while (key.equals(owners[before[block]]) && sequences[before[block]] < sequences[block]) {
            block = before[block];
            found.add(block);
        }
        return found;
    }

    private Open begin(String key) {
        if (key.isEmpty() || key.length() > MOST_KEY) {
            throw new IllegalArgumentException("a key has 1 to %d characters: %s".formatted(MOST_KEY, key));
        }
        var own = of(key);
        boolean full = (long) (own.size() + 1) * limits.blockBytes() > limits.keyBytes();
        int block = full && !own.isEmpty() ? own.getLast() : free();
        forget(block);
        sequences[block] = ++sequence;
        owners[block] = key;
        join(new Note(block, sequence));
        var begun = new Open(block, limits.blockBytes());
        open.put(key, begun);
        return begun;
    }

    /// A block to fill: an expired one, a new one, or the oldest, in this order.
    private int free() {
        while (!byAge.isEmpty()
                && sequences[byAge.getFirst().block()] != byAge.getFirst().sequence()) {
            byAge.removeFirst();
        }
        Note oldest = byAge.peekFirst();
        boolean expired = oldest != null
                && written[oldest.block()] < now() - limits.kept().toSeconds();
        if (oldest != null && (expired || count >= most)) {
            byAge.removeFirst();
            return oldest.block();
        }
        return grow();
    }

    private int grow() {
        if (count == sequences.length) {
            int larger = count * 2;
            sequences = Arrays.copyOf(sequences, larger);
            written = Arrays.copyOf(written, larger);
            owners = Arrays.copyOf(owners, larger);
            before = Arrays.copyOf(before, larger);
        }
        before[count] = count;
        return count++;
    }

    /// The block's owner loses it, and with its last one all memory of the key.
    private void forget(int block) {
        String owner = owners[block];
        if (owner == null) {
            return;
        }
        var filling = open.get(owner);
        if (filling != null && filling.number == block) {
            open.remove(owner);
        }
        Note last = newest.get(owner);
        if (last != null && last.block() == block) {
            newest.remove(owner);
        }
        owners[block] = null;
    }

    /// Makes the block the newest of its owner. Called in the order of sequences.
    private void join(Note note) {
        String owner = owners[note.block()];
        if (owner == null) {
            byAge.addFirst(note);
            return;
        }
        Note previous = newest.put(owner, note);
        before[note.block()] = previous == null ? note.block() : previous.block();
        byAge.addLast(note);
    }

    /// Takes note of a block found in the file; one that is not sound is free.
    private Note look(byte[] bytes) {
        int block = grow();
        if (!sound(bytes)) {
            return new Note(block, 0);
        }
        var header = ByteBuffer.wrap(bytes);
        sequences[block] = header.getLong(4);
        written[block] = header.getLong(12);
        owners[block] = key(bytes);
        sequence = Math.max(sequence, sequences[block]);
        return new Note(block, sequences[block]);
    }

    private void store(Open block, String key) throws IOException {
        byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        written[block.number] = now();
        var header = ByteBuffer.wrap(block.bytes);
        header.putLong(4, sequences[block.number])
                .putLong(12, written[block.number])
                .putShort(20, (short) block.used)
                .put(22, (byte) name.length)
                .put(23, name)
                .putInt(0, checksum(block.bytes));
        int wrote = channel().write(ByteBuffer.wrap(block.bytes), (long) block.number * block.bytes.length);
        if (wrote != block.bytes.length) {
            throw new IOException("only %d bytes were taken".formatted(wrote));
        }
    }

    private boolean sound(byte[] bytes) {
        int used = used(bytes);
        return bytes[22] > 0
                && bytes[22] <= MOST_KEY
                && used >= HEADER
                && used <= limits.blockBytes()
                && ByteBuffer.wrap(bytes).getInt(0) == checksum(bytes);
    }

    private static int used(byte[] bytes) {
        return Short.toUnsignedInt(ByteBuffer.wrap(bytes).getShort(20));
    }

    private static String key(byte[] bytes) {
        return new String(bytes, 23, bytes[22], StandardCharsets.US_ASCII);
    }

    private static int checksum(byte[] bytes) {
        var sum = new CRC32();
        sum.update(bytes, 4, bytes.length - 4);
        return (int) sum.getValue();
    }

    private long now() {
        return clock.instant().getEpochSecond();
    }
}
