package dev.cay.node.runtime;

import dev.cay.life.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;

/// Edits CRIU's image of open files. CRIU restores no process that has a file open whose size or permissions differ
/// from those in this image, and has no option for that. Other sandboxes may change files of volumes while a sandbox is
/// paused, so the sizes of these are removed from the image.
///
/// An image is a magic of 8 bytes and then messages in the format of Protocol Buffers, each after its length in 4
/// bytes.
final class OpenFileSizes {
    private static final String IMAGE = "files.img";
    private static final int MAGIC = 8;

    /// The field of an open file's message that describes a regular file.
    private static final int REGULAR = 3;

    /// Fields of a regular file's message.
    private static final int NAME = 6;

    private static final int SIZE = 8;
    private static final int MODE = 10;

    private static final int VARINT = 0;
    private static final int EIGHT_BYTES = 1;
    private static final int BYTES = 2;
    private static final int FOUR_BYTES = 5;

    private OpenFileSizes() {}

    /// Takes the sizes of all open files below these paths out of the image.
    static void forget(Path images, Collection<String> below) throws IOException {
        Path image = images.resolve(IMAGE);
        if (below.isEmpty() || !Files.exists(image)) {
            return;
        }
        var in = ByteBuffer.wrap(Files.readAllBytes(image)).order(ByteOrder.LITTLE_ENDIAN);
        var out = new ByteArrayOutputStream();
        byte[] magic = new byte[MAGIC];
        in.get(magic);
        out.writeBytes(magic);
        while (in.hasRemaining()) {
            byte[] message = new byte[in.getInt()];
            in.get(message);
            byte[] fresh = openFile(message, below);
            out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(fresh.length)
                    .array());
            out.writeBytes(fresh);
        }
        WholeFile.write(image, out.toByteArray());
    }

    private static byte[] openFile(byte[] message, Collection<String> below) throws IOException {
        var in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
        var out = new ByteArrayOutputStream();
        while (in.hasRemaining()) {
            int start = in.position();
            int key = (int) varint(in);
            byte[] value = value(in, key & 7);
            if (key >>> 3 == REGULAR && (key & 7) == BYTES && isBelow(name(value), below)) {
                byte[] fresh = without(value);
                writeVarint(out, key);
                writeVarint(out, fresh.length);
                out.writeBytes(fresh);
            } else {
                out.write(message, start, in.position() - start);
            }
        }
        return out.toByteArray();
    }

    private static boolean isBelow(String name, Collection<String> paths) {
        String path = name.startsWith(".") ? name.substring(1) : name;
        String absolute = path.startsWith("/") ? path : "/" + path;
        return paths.stream().anyMatch(each -> absolute.startsWith(each + "/") || absolute.equals(each));
    }

    private static String name(byte[] regular) throws IOException {
        var in = ByteBuffer.wrap(regular).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            int key = (int) varint(in);
            byte[] value = value(in, key & 7);
            if (key >>> 3 == NAME) {
                return new String(value, StandardCharsets.UTF_8);
            }
        }
        return "";
    }

    private static byte[] without(byte[] regular) throws IOException {
        var in = ByteBuffer.wrap(regular).order(ByteOrder.LITTLE_ENDIAN);
        var out = new ByteArrayOutputStream();
        while (in.hasRemaining()) {
            int start = in.position();
            int key = (int) varint(in);
            value(in, key & 7);
            if (key >>> 3 != SIZE && key >>> 3 != MODE) {
                out.write(regular, start, in.position() - start);
            }
        }
        return out.toByteArray();
    }

    /// The bytes of a field that has such; nothing of a number, which is only skipped.
    private static byte[] value(ByteBuffer in, int type) throws IOException {
        int length = switch (type) {
            case VARINT -> {
                varint(in);
                yield 0;
            }
            case EIGHT_BYTES -> Long.BYTES;
            case FOUR_BYTES -> Integer.BYTES;
            case BYTES -> (int) varint(in);
            default -> throw new IOException("unknown type %d of a field in %s".formatted(type, IMAGE));
        };
        byte[] value = new byte[length];
        in.get(value);
        return value;
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    private static void writeVarint(ByteArrayOutputStream out, long value) {
        long rest = value;
        while (rest > 0x7f) {
            out.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
