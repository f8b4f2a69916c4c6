package dev.cay.node.image.oci;

import dev.cay.node.linux.FileName;
import java.util.Arrays;

/// The fields of one 512-byte header block.
final class TarHeader {
    static final int SIZE = 512;
    private static final int CHECKSUM = 148;
    private static final int CHECKSUM_LENGTH = 8;

    private final byte[] block;

    private TarHeader(byte[] block) {
        this.block = block;
    }

    /// @param block of {@link #SIZE} bytes, which are copied
    static TarHeader of(byte[] block) {
        var header = new TarHeader(block.clone());
        header.requireChecksum();
        return header;
    }

    char type() {
        return (char) (block[156] & 0xff);
    }

    /// The name with the prefix, where the format has one.
    String name() {
        String name = text(0, 100);
        if (!posix()) {
            return name;
        }
        boolean star = block[508] == 't' && block[509] == 'a' && block[510] == 'r' && block[511] == 0;
        String prefix = text(345, star ? 131 : 155);
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    String linkName() {
        return text(157, 100);
    }

    long mode() {
        return number(100, 8);
    }

    long uid() {
        return number(108, 8);
    }

    long gid() {
        return number(116, 8);
    }

    long size() {
        return number(124, 12);
    }

    long modified() {
        return number(136, 12);
    }

    long major() {
        return hasDevices() ? number(329, 8) : 0;
    }

    long minor() {
        return hasDevices() ? number(337, 8) : 0;
    }

    /// The size with holes of an old GNU sparse file.
    long sparseSize() {
        return number(483, 12);
    }

    /// Whether blocks with more of the sparse map follow.
    boolean sparseGoesOn() {
        return block[482] != 0;
    }

    /// A pair of the sparse map; both 0 after the last.
    TarEntry.Chunk sparseChunk(int index) {
        return chunk(block, 386 + 24 * index);
    }

    static TarEntry.Chunk chunk(byte[] block, int at) {
        return new TarEntry.Chunk(number(block, at, 12), number(block, at + 12, 12));
    }

    private boolean posix() {
        return magic("ustar\0");
    }

    private boolean hasDevices() {
        return posix() || magic("ustar ");
    }

    private boolean magic(String magic) {
        for (int i = 0; i < magic.length(); i++) {
            if (block[257 + i] != magic.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /// Old writers added the bytes up as signed numbers.
    private void requireChecksum() {
        long unsigned = 0;
        long signed = 0;
        for (int i = 0; i < SIZE; i++) {
            byte b = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_LENGTH ? (byte) ' ' : block[i];
            unsigned += b & 0xff;
            signed += b;
        }
        long stated = number(CHECKSUM, CHECKSUM_LENGTH);
        if (stated != unsigned && stated != signed) {
            throw BadImage.because("this is no tar archive, or it is damaged: a header has the wrong checksum");
        }
    }

    private String text(int from, int length) {
        int end = from;
        while (end < from + length && block[end] != 0) {
            end++;
        }
        return FileName.text(Arrays.copyOfRange(block, from, end));
    }

    private long number(int from, int length) {
        return number(block, from, length);
    }

    /// Octal digits, or a big-endian number if the first bit is set.
    private static long number(byte[] block, int from, int length) {
        return (block[from] & 0x80) == 0 ? octal(block, from, length) : binary(block, from, length);
    }

    private static long binary(byte[] block, int from, int length) {
        boolean negative = (block[from] & 0x40) != 0;
        long value = negative ? -1 : 0;
        for (int i = 0; i < length; i++) {
            int b = i == 0 ? (negative ? block[from] | 0x80 : block[from] & 0x7f) : block[from + i];
            if (value > Long.MAX_VALUE >> 8 || value < Long.MIN_VALUE >> 8) {
                throw BadImage.because(
                        "this is no tar archive, or it is damaged: a header has a number that is too large");
            }
            value = (value << 8) | (b & 0xff);
        }
        return value;
    }

    private static long octal(byte[] block, int from, int length) {
        long value = 0;
        boolean begun = false;
        for (int i = from; i < from + length; i++) {
            int digit = block[i] - '0';
            if (digit >= 0 && digit <= 7) {
                value = (value << 3) | digit;
                begun = true;
            } else if (block[i] == 0 || (block[i] == ' ' && begun)) {
                return value;
            } else if (block[i] != ' ') {
                throw BadImage.because("this is no tar archive, or it is damaged: a header has a number that is none");
            }
        }
        return value;
    }
}
