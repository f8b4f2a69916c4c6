package dev.cay.dockerfile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/// Writes a tar archive in the ustar format. What ustar cannot hold, like names over 100 bytes, goes into PAX headers.
public final class TarWriter {
    private static final int BLOCK = 512;
    private static final int LONGEST_NAME = 100;
    private static final String ATTRIBUTE = "SCHILY.xattr.";
    private static final long LARGEST_NUMBER = 077777777777L;

    private final OutputStream out;

    /// The header of an entry.
    ///
    /// @param name       without a slash at its end
    /// @param mode       permission bits
    /// @param attributes extended attributes by name
    public record Header(String name, int mode, int uid, int gid, long mtimeSeconds, Map<String, byte[]> attributes) {
        public Header {
            attributes = Map.copyOf(attributes);
        }

        public Header(String name, int mode, int uid, int gid, long mtimeSeconds) {
            this(name, mode, uid, gid, mtimeSeconds, Map.of());
        }
    }

    public TarWriter(OutputStream out) {
        this.out = out;
    }

    public void directory(Header header) throws IOException {
        header(header, header.name() + "/", '5', 0, "");
    }

    public void link(Header header, String target) throws IOException {
        header(header, header.name(), '2', 0, target);
    }

    /// Writes a hard link to an earlier entry.
    ///
    /// @param target name of that entry
    public void hardLink(Header header, String target) throws IOException {
        header(header, header.name(), '1', 0, target);
    }

    public void fifo(Header header) throws IOException {
        header(header, header.name(), '6', 0, "");
    }

    /// @throws IOException also when the content has fewer bytes than `size`
    public void file(Header header, long size, InputStream content) throws IOException {
        header(header, header.name(), '0', size, "");
        var buffer = new byte[1 << 16];
        long left = size;
        while (left > 0) {
            int read = content.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                throw new IOException(header.name() + " became shorter while it was read");
            }
            out.write(buffer, 0, read);
            left -= read;
        }
        pad(size);
    }

    /// Ends the archive. The stream stays open.
    public void finish() throws IOException {
        out.write(new byte[2 * BLOCK]);
        out.flush();
    }

    private void header(Header header, String name, char type, long size, String link) throws IOException {
        long mtime = header.mtimeSeconds();
        var extended = new ByteArrayOutputStream();
        extend(extended, "path", name, fits(name));
        extend(extended, "linkpath", link, fits(link));
        extend(extended, "size", Long.toString(size), size <= LARGEST_NUMBER);
        extend(extended, "mtime", Long.toString(mtime), mtime >= 0 && mtime <= LARGEST_NUMBER);
        for (var attribute : new TreeMap<>(header.attributes()).entrySet()) {
            extend(extended, ATTRIBUTE + attribute.getKey(), attribute.getValue());
        }
        if (extended.size() > 0) {
            out.write(
                    block(new Header("PaxHeaders/entry", 0644, 0, 0, 0), "PaxHeaders/entry", 'x', extended.size(), ""));
            extended.writeTo(out);
            pad(extended.size());
        }
        out.write(block(header, name, type, size, link));
    }

    private static boolean fits(String text) {
        return text.length() <= LONGEST_NAME && text.chars().allMatch(c -> c < 128);
    }

    private static void extend(ByteArrayOutputStream records, String key, String value, boolean fits) {
        if (!fits) {
            extend(records, key, value.getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Appends one PAX record: its own length in bytes, a space, key=value and a line feed.
    private static void extend(ByteArrayOutputStream records, String key, byte[] value) {
        byte[] begin = (" " + key + "=").getBytes(StandardCharsets.UTF_8);
        int rest = begin.length + value.length + 1;
        int length = rest + Integer.toString(rest).length();
        length = rest + Integer.toString(length).length();
        records.writeBytes(Integer.toString(length).getBytes(StandardCharsets.US_ASCII));
        records.writeBytes(begin);
        records.writeBytes(value);
        records.write('\n');
    }

    private static byte[] block(Header header, String name, char type, long size, String link) {
        long mtime = header.mtimeSeconds();
        var block = new byte[BLOCK];
        text(block, 0, LONGEST_NAME, name);
        octal(block, 100, 8, header.mode() & 07777);
        octal(block, 108, 8, header.uid());
        octal(block, 116, 8, header.gid());
        octal(block, 124, 12, size <= LARGEST_NUMBER ? size : 0);
        octal(block, 136, 12, mtime >= 0 && mtime <= LARGEST_NUMBER ? mtime : 0);
        Arrays.fill(block, 148, 156, (byte) ' ');
        block[156] = (byte) type;
        text(block, 157, LONGEST_NAME, link);
        text(block, 257, 5, "ustar");
        text(block, 263, 2, "00");
        int sum = 0;
        for (byte b : block) {
            sum += b & 0xff;
        }
        octal(block, 148, 7, sum);
        return block;
    }

    private static void text(byte[] block, int at, int most, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, block, at, Math.min(most, bytes.length));
    }

    /// Digits with zeros in front, and a NUL behind them.
    private static void octal(byte[] block, int at, int width, long value) {
        String digits = Long.toOctalString(value);
        text(block, at, width - 1, "0".repeat(width - 1 - digits.length()) + digits);
        block[at + width - 1] = 0;
    }

    private void pad(long size) throws IOException {
        out.write(new byte[(int) ((BLOCK - size % BLOCK) % BLOCK)]);
    }
}
