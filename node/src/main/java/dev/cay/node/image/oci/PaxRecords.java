package dev.cay.node.image.oci;

import dev.cay.node.linux.FileName;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The extended header of one entry, whose keys replace fields of the header. Values are bytes, because names and
/// attributes need not be text.
final class PaxRecords {
    static final PaxRecords NONE = new PaxRecords(Map.of(), List.of());

    private static final String ATTRIBUTE = "SCHILY.xattr.";
    private static final int MOST_SECONDS_DIGITS = 15;

    private final Map<String, byte[]> values;
    private final List<TarEntry.Chunk> chunks;

    private PaxRecords(Map<String, byte[]> values, List<TarEntry.Chunk> chunks) {
        this.values = values;
        this.chunks = chunks;
    }

    /// Reads records of the form `LENGTH KEY=VALUE\n`.
    static PaxRecords parse(byte[] content) {
        var values = new LinkedHashMap<String, byte[]>();
        var chunks = new ArrayList<TarEntry.Chunk>();
        long offset = 0;
        for (int at = 0; at < content.length; ) {
            int space = find(content, (byte) ' ', at, Math.min(content.length, at + 9));
            int length = space < 0 ? 0 : (int) decimal(Arrays.copyOfRange(content, at, space));
            int end = at + length;
            int equals = space < 0 || end > content.length ? -1 : find(content, (byte) '=', space + 1, end);
            if (equals < 0 || end <= equals || content[end - 1] != '\n') {
                throw broken();
            }
            String key = new String(content, space + 1, equals - space - 1, StandardCharsets.UTF_8);
            byte[] value = Arrays.copyOfRange(content, equals + 1, end - 1);
            if (key.equals("GNU.sparse.offset")) {
                offset = decimal(value);
            } else if (key.equals("GNU.sparse.numbytes")) {
                chunks.add(new TarEntry.Chunk(offset, decimal(value)));
            }
            values.put(key, value);
            at = end;
        }
        return new PaxRecords(values, chunks);
    }

    String text(String key, String otherwise) {
        byte[] value = values.get(key);
        return value == null || value.length == 0 ? otherwise : FileName.text(value);
    }

    long number(String key, long otherwise) {
        byte[] value = values.get(key);
        return value == null || value.length == 0 ? otherwise : decimal(value);
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    /// Seconds with a fraction, as in `1700000000.123456789`; they may be negative.
    Instant modified(Instant otherwise) {
        byte[] value = values.get("mtime");
        if (value == null || value.length == 0) {
            return otherwise;
        }
        String text = new String(value, StandardCharsets.ISO_8859_1);
        if (!text.matches("-?[0-9]{1,%d}(\\.[0-9]*)?".formatted(MOST_SECONDS_DIGITS))) {
            throw broken();
        }
        int point = text.indexOf('.');
        long seconds = Long.parseLong(point < 0 ? text : text.substring(0, point));
        String fraction = point < 0 ? "" : text.substring(point + 1);
        long nanos = Long.parseLong((fraction + "000000000").substring(0, 9));
        return Instant.ofEpochSecond(seconds, text.startsWith("-") ? -nanos : nanos);
    }

    Map<String, byte[]> attributes() {
        var attributes = new LinkedHashMap<String, byte[]>();
        values.forEach((key, value) -> {
            if (key.startsWith(ATTRIBUTE)) {
                attributes.put(key.substring(ATTRIBUTE.length()), value);
            }
        });
        return attributes;
    }

    /// The map of a sparse file in one of the two forms that stand in the records; null if it is no such file.
    @Nullable
    List<TarEntry.Chunk> sparse() {
        byte[] map = values.get("GNU.sparse.map");
        if (map == null) {
            return values.containsKey("GNU.sparse.numblocks") ? chunks : null;
        }
        if (map.length == 0) {
            return List.of();
        }
        String[] numbers = new String(map, StandardCharsets.ISO_8859_1).split(",", -1);
        if (numbers.length % 2 != 0) {
            throw broken();
        }
        var found = new ArrayList<TarEntry.Chunk>();
        for (int i = 0; i < numbers.length; i += 2) {
            found.add(new TarEntry.Chunk(decimal(numbers[i]), decimal(numbers[i + 1])));
        }
        return found;
    }

    static long decimal(String digits) {
        return decimal(digits.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static long decimal(byte[] digits) {
        long value = 0;
        for (byte digit : digits) {
            if (digit < '0' || digit > '9' || value > (Long.MAX_VALUE - 9) / 10) {
                throw broken();
            }
            value = value * 10 + (digit - '0');
        }
        if (digits.length == 0) {
            throw broken();
        }
        return value;
    }

    private static int find(byte[] content, byte wanted, int from, int end) {
        for (int i = from; i < end; i++) {
            if (content[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static RuntimeException broken() {
        return BadImage.because("the layer's archive has a broken extended header");
    }
}
