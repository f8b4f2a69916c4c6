package dev.cay.node.runtime;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// Edits the one CRIU image that contains a sandbox's uid range. All others count ids as the sandbox does, so the
/// images fit any slot once this one is rewritten.
final class UserNamespaceImage {
    private static final int MAGIC = 8;
    private static final int IDS = 65_536;

    private UserNamespaceImage() {}

    /// Returns a directory to restore from: `images` itself if they were saved with that range, otherwise
    /// `place`, made of links to them and a fresh user namespace image. Hard links: CRIU opens some when it has
    /// the root directory of the sandbox, where a symbolic one would lead elsewhere. So `place` must be on the
    /// same file system.
    static Path withBase(Path images, long uidBase, Path place) throws IOException {
        List<Path> files;
        try (var list = Files.list(images)) {
            files = list.toList();
        }
        Path saved = files.stream()
                .filter(file -> file.getFileName().toString().matches("userns-\\d+\\.img"))
                .findFirst()
                .orElseThrow(() -> new IOException("no user namespace in " + images));
        byte[] before = Files.readAllBytes(saved);
        byte[] after = encode(before, uidBase);
        if (Arrays.equals(before, after)) {
            return images;
        }
        Files.createDirectories(place);
        for (Path file : files) {
            if (!file.equals(saved)) {
                Files.createLink(place.resolve(file.getFileName()), file);
            }
        }
        Files.write(place.resolve(saved.getFileName()), after);
        return place;
    }

    /// CRIU's magic as it was, a length, and the message: field 1 the users' ranges, field 2 the groups'.
    private static byte[] encode(byte[] before, long uidBase) {
        byte[] extent = extent(uidBase);
        var message = new ByteArrayOutputStream();
        for (int field : new int[] {1, 2}) {
            message.write((field << 3) | 2);
            varint(message, extent.length);
            message.writeBytes(extent);
        }
        return ByteBuffer.allocate(MAGIC + Integer.BYTES + message.size())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(before, 0, MAGIC)
                .putInt(message.size())
                .put(message.toByteArray())
                .array();
    }

    /// Inner id 0, outer id, count.
    private static byte[] extent(long uidBase) {
        var bytes = new ByteArrayOutputStream();
        long[] values = {0, uidBase, IDS};
        for (int i = 0; i < values.length; i++) {
            bytes.write((i + 1) << 3);
            varint(bytes, values[i]);
        }
        return bytes.toByteArray();
    }

    private static void varint(ByteArrayOutputStream out, long value) {
        long rest = value;
        while (rest > 0x7f) {
            out.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }
}
