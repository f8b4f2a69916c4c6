package dev.cay.server.metrics;

import dev.cay.server.ring.RingFile;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Rows of numbers over time, many series in one ring file. The first number of a row is its time in seconds.
///
/// Rows are kept as differences to the row before, seven bits to a byte: a quiet sandbox takes five bytes a row, a busy
/// one about ten.
final class Series implements AutoCloseable {
    private static final int ROW_BYTES = 200;

    private final RingFile file;
    private final int columns;
    /// The row that each series was given last.
    private final Map<String, long[]> last = new ConcurrentHashMap<>();

    /// @param columns numbers in a row, its time included
    Series(RingFile file, int columns) {
        this.file = file;
        this.columns = columns;
    }

    /// Adds a row to each of these series.
    void add(Map<String, long[]> rows) {
        var appends = new ArrayList<RingFile.Append>();
        rows.forEach((key, row) -> appends.add(new RingFile.Append(key, first -> encode(key, row, first), ROW_BYTES)));
        file.append(appends);
    }

    /// Rows of these seconds, both included, oldest first.
    List<long[]> rows(String key, long from, long to) {
        var rows = new ArrayList<long[]>();
        for (byte[] block : file.read(key)) {
            decode(block, rows);
        }
        rows.removeIf(row -> row[0] < from || row[0] > to);
        return rows;
    }

    /// The series will get no more rows.
    void forget(String key) {
        last.remove(key);
    }

    long dropped() {
        return file.dropped();
    }

    @Override
    public void close() {
        file.close();
    }

    private byte @Nullable [] encode(String key, long[] row, boolean first) {
        long[] before = first ? null : last.get(key);
        if (before == null && !first) {
            return null;
        }
        var bytes = new ByteArrayOutputStream(16);
        for (int i = 0; i < columns; i++) {
            long difference = row[i] - (before == null ? 0 : before[i]);
            write(bytes, (difference << 1) ^ (difference >> 63));
        }
        last.put(key, row);
        return bytes.toByteArray();
    }

    private static void write(ByteArrayOutputStream bytes, long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            bytes.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        bytes.write((int) left);
    }

    /// Stops where the bytes do: what a crash cut off is left out.
    private void decode(byte[] bytes, List<long[]> rows) {
        long[] row = new long[columns];
        int at = 0;
        while (at < bytes.length) {
            for (int i = 0; i < columns; i++) {
                long value = 0;
                for (int shift = 0; ; shift += 7) {
                    if (at == bytes.length || shift > 63) {
                        return;
                    }
                    byte next = bytes[at++];
                    value |= (next & 0x7fL) << shift;
                    if (next >= 0) {
                        break;
                    }
                }
                row[i] += (value >>> 1) ^ -(value & 1);
            }
            rows.add(Arrays.copyOf(row, columns));
        }
    }
}
