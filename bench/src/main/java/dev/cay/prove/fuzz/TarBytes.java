package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A tar archive written block by block, with whatever a header is told to say.
final class TarBytes {
    static final int BLOCK = 512;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final List<Integer> headers = new ArrayList<>();

    /// One header block. Setters return the same header.
    static final class Header {
        private final byte[] block = new byte[BLOCK];

        Header(byte[] name, char type) {
            put(0, 100, name);
            block[156] = (byte) type;
            number(100, 8, type == '5' ? 0755 : 0644).number(108, 8, 0).number(116, 8, 0);
            size(0).number(136, 12, 1_700_000_000L).put(257, 8, "ustar\00000".getBytes(US_ASCII));
        }

        Header link(byte[] target) {
            return put(157, 100, target);
        }

        Header size(long size) {
            return number(124, 12, size);
        }

        Header device(long major, long minor) {
            return number(329, 8, major).number(337, 8, minor);
        }

        /// The old form of a file with holes: a map in the header.
        Header sparse(long size, long... pairs) {
            put(257, 8, "ustar  \0".getBytes(US_ASCII));
            for (int i = 0; i < pairs.length; i++) {
                number(386 + 12 * i, 12, pairs[i]);
            }
            return number(483, 12, size);
        }

        /// Octal where it fits, otherwise binary with the first bit set.
        Header number(int at, int width, long value) {
            String octal = Long.toOctalString(value);
            if (value >= 0 && octal.length() < width) {
                return put(at, width, ("0".repeat(width - 1 - octal.length()) + octal + "\0").getBytes(US_ASCII));
            }
            for (int i = width - 1, shift = 0; i >= 0; i--, shift += 8) {
                block[at + i] = (byte) (shift < 64 ? value >> shift : value < 0 ? -1 : 0);
            }
            block[at] |= (byte) 0x80;
            return this;
        }

        Header put(int at, int width, byte[] bytes) {
            System.arraycopy(bytes, 0, block, at, Math.min(width, bytes.length));
            return this;
        }
    }

    TarBytes add(Header header, byte[] content) {
        sign(header.block, 0);
        headers.add(out.size());
        out.writeBytes(header.block);
        out.writeBytes(content);
        out.writeBytes(new byte[-content.length & (BLOCK - 1)]);
        return this;
    }

    TarBytes file(String name, byte[] content) {
        return add(new Header(name.getBytes(UTF_8), '0').size(content.length), content);
    }

    /// An extended header of the entry that follows, in records of the form `LENGTH KEY=VALUE`.
    TarBytes extended(char type, byte[] records) {
        return add(new Header("extended".getBytes(US_ASCII), type).size(records.length), records);
    }

    static byte[] record(String key, byte[] value) {
        var rest = new ByteArrayOutputStream();
        rest.writeBytes((" " + key + "=").getBytes(UTF_8));
        rest.writeBytes(value);
        rest.write('\n');
        int digits = 1;
        while (Integer.toString(rest.size() + digits).length() > digits) {
            digits++;
        }
        var record = new ByteArrayOutputStream();
        record.writeBytes(Integer.toString(rest.size() + digits).getBytes(US_ASCII));
        record.writeBytes(rest.toByteArray());
        return record.toByteArray();
    }

    /// Offsets of the header blocks.
    List<Integer> headers() {
        return headers;
    }

    /// @param ended whether the empty blocks of the end follow
    byte[] bytes(boolean ended) {
        byte[] entries = out.toByteArray();
        return ended ? Arrays.copyOf(entries, entries.length + 2 * BLOCK) : entries;
    }

    /// Writes the checksum of a header block.
    static void sign(byte[] archive, int at) {
        Arrays.fill(archive, at + 148, at + 156, (byte) ' ');
        int sum = 0;
        for (int i = at; i < at + BLOCK; i++) {
            sum += archive[i] & 0xff;
        }
        System.arraycopy("%06o\0".formatted(sum).getBytes(US_ASCII), 0, archive, at + 148, 7);
    }
}
