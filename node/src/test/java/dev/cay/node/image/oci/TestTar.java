package dev.cay.node.image.oci;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/// Writes tar archives byte by byte, also such as no program would write.
final class TestTar {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /// What stands in a header.
    record Header(
            byte[] name,
            char type,
            long mode,
            long uid,
            long gid,
            long size,
            long modified,
            byte[] link,
            long major,
            long minor) {
        static Header of(String name, char type) {
            long mode = type == '5' ? 0755 : 0644;
            return new Header(bytes(name), type, mode, 0, 0, 0, 1_700_000_000L, new byte[0], 0, 0);
        }

        Header mode(int bits) {
            return new Header(name, type, bits, uid, gid, size, modified, link, major, minor);
        }

        Header owner(long user, long group) {
            return new Header(name, type, mode, user, group, size, modified, link, major, minor);
        }

        Header size(long bytes) {
            return new Header(name, type, mode, uid, gid, bytes, modified, link, major, minor);
        }

        Header modified(long seconds) {
            return new Header(name, type, mode, uid, gid, size, seconds, link, major, minor);
        }

        Header to(String target) {
            return new Header(name, type, mode, uid, gid, size, modified, bytes(target), major, minor);
        }

        Header device(long major, long minor) {
            return new Header(name, type, mode, uid, gid, size, modified, link, major, minor);
        }

        Header name(byte[] raw) {
            return new Header(raw, type, mode, uid, gid, size, modified, link, major, minor);
        }
    }

    TestTar file(String name, String content) {
        return add(Header.of(name, '0'), bytes(content));
    }

    TestTar directory(String name) {
        return add(Header.of(name, '5'), new byte[0]);
    }

    TestTar symlink(String name, String target) {
        return add(Header.of(name, '2').to(target), new byte[0]);
    }

    TestTar link(String name, String target) {
        return add(Header.of(name, '1').to(target), new byte[0]);
    }

    TestTar device(String name, char type, int major, int minor) {
        return add(Header.of(name, type).device(major, minor), new byte[0]);
    }

    TestTar add(Header header, byte[] content) {
        return raw(header.size(content.length), content);
    }

    /// With a size that need not be that of the content.
    TestTar raw(Header header, byte[] content) {
        out.writeBytes(block(header));
        out.writeBytes(content);
        return bytes(new byte[-content.length & 511]);
    }

    TestTar bytes(byte[] raw) {
        out.writeBytes(raw);
        return this;
    }

    /// An extended header for the entry that follows.
    TestTar pax(Map<String, byte[]> records) {
        var content = new ByteArrayOutputStream();
        records.forEach((key, value) -> content.writeBytes(record(key, value)));
        return add(Header.of("pax", 'x'), content.toByteArray());
    }

    TestTar pax(String key, String value) {
        return pax(Map.of(key, bytes(value)));
    }

    static byte[] record(String key, byte[] value) {
        int rest = bytes(key).length + value.length + 3;
        int length = rest;
        while (length != rest + Integer.toString(length).length()) {
            length = rest + Integer.toString(length).length();
        }
        var record = new ByteArrayOutputStream();
        record.writeBytes(bytes(length + " " + key + "="));
        record.writeBytes(value);
        record.write('\n');
        return record.toByteArray();
    }

    byte[] tar() {
        var whole = new ByteArrayOutputStream();
        whole.writeBytes(out.toByteArray());
        whole.writeBytes(new byte[1024]);
        return whole.toByteArray();
    }

    /// Without the blocks that say that it ends.
    byte[] open() {
        return out.toByteArray();
    }

    byte[] gzip() {
        return gzip(tar());
    }

    static byte[] gzip(byte[] content) {
        var zipped = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(zipped)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return zipped.toByteArray();
    }

    static byte[] zstd(byte[] content) {
        var zipped = new ByteArrayOutputStream();
        try (var zstd = new ZstdOutputStreamNoFinalizer(zipped)) {
            zstd.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return zipped.toByteArray();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] block(Header header) {
        byte[] block = new byte[512];
        System.arraycopy(header.name(), 0, block, 0, Math.min(100, header.name().length));
        number(block, 100, 8, header.mode());
        number(block, 108, 8, header.uid());
        number(block, 116, 8, header.gid());
        number(block, 124, 12, header.size());
        number(block, 136, 12, header.modified());
        block[156] = (byte) header.type();
        System.arraycopy(header.link(), 0, block, 157, Math.min(100, header.link().length));
        System.arraycopy(bytes("ustar\00000"), 0, block, 257, 8);
        number(block, 329, 8, header.major());
        number(block, 337, 8, header.minor());
        sign(block);
        return block;
    }

    static void sign(byte[] block) {
        System.arraycopy(bytes("        "), 0, block, 148, 8);
        int sum = 0;
        for (byte b : block) {
            sum += b & 0xff;
        }
        System.arraycopy(bytes("%06o\0 ".formatted(sum)), 0, block, 148, 8);
    }

    /// Octal where it fits, otherwise binary as GNU does.
    static void number(byte[] block, int at, int length, long value) {
        String octal = Long.toOctalString(value);
        if (value >= 0 && octal.length() < length) {
            System.arraycopy(bytes("0".repeat(length - 1 - octal.length()) + octal), 0, block, at, length - 1);
            return;
        }
        for (int i = 0; i < length; i++) {
            int shift = 8 * (length - 1 - i);
            block[at + i] = (byte) (shift > 56 ? (value < 0 ? 0xff : 0) : value >> shift);
        }
        block[at] |= (byte) 0x80;
    }
}
